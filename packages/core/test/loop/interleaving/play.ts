import type { Scheduler } from 'fast-check'
import type { Agent } from '@cordage/core/agent'
import { isHarnessError } from '@cordage/core/error'
import type { Fact, Session } from '@cordage/core/session'
import type { SimulatedClock } from '../../../../kit/testkit/src/simulation/clock.ts'
import { findViolations, foldOf } from './check-log.ts'
import type { Input, Plan } from './plan.ts'
import { Script } from './script.ts'
import { GRACE_MS, LATE, type World } from './world.ts'

/** What is told to people whose input comes too late, or to a disk that hangs. */
const TOLD = [
  'AGENT_CLOSED',
  'SESSION_CLOSED',
  'MESSAGE_GONE',
  'STORE_FENCED',
  'STORE_WRITE_TIMEOUT',
  'STORE_WRITE_FAILED',
]
const TICK_MS = 100
/** Longer than any wait but those of a person. */
const MAX_QUIET_MS = 6_000
const MAX_TICKS = 5_000

/** Plays one plan to its end; gives what was wrong, in words. */
export async function play(
  world: World,
  clock: SimulatedClock,
  scheduler: Scheduler,
  plan: Plan,
): Promise<string[]> {
  const game = new Game(world, clock, scheduler, plan)
  try {
    return await game.play(plan.inputs)
  } finally {
    await game.end()
  }
}

class Game {
  readonly #world: World
  readonly #clock: SimulatedClock
  readonly #scheduler: Scheduler
  readonly #script: Script
  readonly #wrong: string[]
  /** What has been asked for and has not come to its end. */
  readonly #underway = new Set<Promise<void>>()
  readonly #sent: string[] = []
  #agent!: Agent

  constructor(world: World, clock: SimulatedClock, scheduler: Scheduler, plan: Plan) {
    this.#world = world
    this.#clock = clock
    this.#scheduler = scheduler
    this.#script = new Script(scheduler, plan)
    this.#wrong = this.#script.violations
    world.script = this.#script
  }

  async play(inputs: readonly Input[]): Promise<string[]> {
    const { sessions } = this.#world.root
    await this.#start(await sessions.create({ project: '/project', depth: 0 }))
    await this.#until(this.#enterAll(inputs))
    await this.#settled()
    // Whatever happened, the rest of the inbox can be worked off.
    this.#script.calm()
    await this.#diskAnswers()
    await this.#until(this.#workOff())
    const facts = await this.#facts()
    this.#script.releaseDeaf()
    await this.#settled()
    if ((await this.#facts()).length > facts.length) this.#wrong.push('late facts')
    this.#wrong.push(...findViolations(facts), ...this.#losses(facts))
    return this.#wrong
  }

  async end(): Promise<void> {
    this.#script.calm()
    await this.#diskAnswers()
    this.#script.releaseDeaf()
    await this.#until(this.#agent.close())
  }

  async #start(session: Session): Promise<void> {
    this.#agent = await this.#world.root.agents.spawn({
      session,
      choice: { model: 'test/model', params: {} },
      authority: { mode: 'full-access', writableRoots: ['/project'] },
    })
    session.watch(this.#world.root, (update) => {
      if (JSON.stringify(update).includes(LATE)) this.#wrong.push('what was left behind is shown')
    })
    if (this.#agent.status.kind !== 'idle') this.#wrong.push('a turn that nobody asked for')
  }

  async #enterAll(inputs: readonly Input[]): Promise<void> {
    for (const input of inputs) {
      await this.#scheduler.schedule(Promise.resolve(), `input ${input.kind}`)
      const done = this.#enter(input).catch((error: unknown) => {
        const known = isHarnessError(error) && TOLD.includes(error.code)
        if (!known) this.#wrong.push(`${input.kind} failed: ${String(error)}`)
      })
      const task = done.finally(() => this.#underway.delete(task))
      this.#underway.add(task)
      if (input.kind === 'restart' || input.kind === 'crash') await task
    }
  }

  async #enter(input: Input): Promise<void> {
    const agent = this.#agent
    const ids = agent.session.inbox.map(({ message }) => message.id)
    const at = 'at' in input ? ids[input.at] : undefined
    switch (input.kind) {
      case 'send':
        return void this.#sent.push((await agent.send(`prompt ${this.#sent.length}`)).id)
      case 'steer':
        return void this.#sent.push((await agent.steer(`steer ${this.#sent.length}`)).id)
      case 'cancel':
        return this.#cancel(agent)
      case 'wake':
        return void (await agent.wake())
      case 'release':
        return agent.release(ids)
      case 'reorder':
        return agent.reorder(ids.toReversed())
      case 'edit':
        return void (at !== undefined && (await agent.edit(at, `edited ${input.at}`)))
      case 'unsend':
        return at === undefined ? undefined : agent.unsend([at])
      case 'time':
        return this.#pass(input.ms)
      case 'hear':
        return this.#script.releaseHooks()
      case 'hang':
        return this.#world.disk.hang()
      case 'fill':
        return this.#world.disk.fill()
      case 'go-on':
        return this.#diskAnswers()
      case 'restart':
        // Until the disk answers nobody else can have the session.
        await this.#diskAnswers()
        await agent.close()
        return this.#start(await this.#world.root.sessions.open(agent.id))
      case 'crash':
        return this.#crash(agent)
    }
  }

  async #diskAnswers(): Promise<void> {
    this.#world.disk.goOn()
    await this.#breathe()
  }

  async #cancel(agent: Agent): Promise<void> {
    const since = this.#clock.now()
    const { disk } = this.#world
    this.#script.cancelling += 1
    const hung = disk.isHung
    await agent.cancel('enough')
    this.#script.cancelling -= 1
    // What is left to be written at the end of the grace period has one of its own.
    const allowedMs = hung || disk.isHung ? 2 * GRACE_MS : GRACE_MS
    const late = this.#clock.now() - since - allowedMs
    // The clock goes in ticks.
    if (this.#world.instant && late > 2 * TICK_MS)
      this.#wrong.push(`idle ${late} ms after the grace period`)
  }

  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.#clock.advance(TICK_MS)
      await this.#breathe()
    }
  }

  /** Another writer takes the session, as after a process that died; the old one is fenced off. */
  async #crash(agent: Agent): Promise<void> {
    const session = await this.#world.root.sessions.open(agent.id, { takeOver: true })
    this.#script.cancelling += 1
    await agent.close().catch(() => {})
    this.#script.cancelling -= 1
    // What the old one still had to write comes too late; the new one can be mended.
    await this.#diskAnswers()
    return this.#start(session)
  }

  async #workOff(): Promise<void> {
    for (let turns = 0; this.#agent.session.inbox.length > 0; turns += 1) {
      if (turns > 50) return void this.#wrong.push('an inbox that never becomes empty')
      await this.#agent.release(this.#agent.session.inbox.map(({ message }) => message.id))
      const outcome = await this.#agent.wake()
      await this.#agent.idle()
      if (outcome?.reason !== 'completed') {
        this.#wrong.push(`a calm turn ends as ${outcome?.reason}: ${outcome?.error?.message}`)
      }
    }
  }

  /** Lets everything happen that can, until `work` is done. */
  async #until(work: Promise<void>): Promise<void> {
    const state = { done: false }
    const task = work.finally(() => (state.done = true))
    task.catch(() => {})
    for (let ticks = 0; !state.done; ticks += 1) {
      if (ticks > MAX_TICKS) throw new Error('nothing ends')
      await this.#next()
    }
    await task
  }

  /** Lets what runs come to its end; a hook that never does is waited for until it is cancelled. */
  async #settled(): Promise<void> {
    const isBusy = () => this.#agent.status.kind === 'running' || this.#underway.size > 0
    for (let quiet = 0; isBusy(); quiet += 1) {
      if (this.#scheduler.count() > 0) quiet = 0
      if (quiet * TICK_MS < MAX_QUIET_MS) await this.#next()
      else await this.#until(this.#cancel(this.#agent))
    }
  }

  /** The next task of the scheduler; where there is none time passes. */
  async #next(): Promise<void> {
    await this.#breathe()
    if (this.#scheduler.count() > 0) await this.#scheduler.waitNext(1)
    else this.#clock.advance(TICK_MS)
  }

  /** Everything that needs no time happens, or a part of it where the disk takes its own. */
  #breathe(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#world.instant) setImmediate(resolve)
      else setTimeout(resolve, 1)
    })
  }

  async #facts(): Promise<Fact[]> {
    const facts: Fact[] = []
    for await (const fact of this.#agent.session.read(0)) facts.push(fact)
    return facts
  }

  /** What was sent and is nowhere in the log; and a session that is not the fold of its log. */
  #losses(facts: readonly Fact[]): string[] {
    const text = JSON.stringify(facts)
    const lost = this.#sent.filter((id) => !text.includes(id)).map((id) => `message ${id} is lost`)
    const { surface, inbox } = foldOf(facts)
    const folded = JSON.stringify([surface, inbox])
    const { session } = this.#agent
    const same = folded === JSON.stringify([session.surface, session.inbox])
    return same ? lost : [...lost, 'the session is not the fold of its log']
  }
}
