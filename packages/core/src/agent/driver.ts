import { ulid } from 'ulid'
import type { Context, Scope } from '../kernel/index.ts'
import type { Account } from '../ledger/index.ts'
import { textMessage, type Message } from '../message/index.ts'
import type { Authority } from '../policy/index.ts'
import { inboxSplice, type InboxQueue, type Session } from '../session/index.ts'
import type { Agent, AgentStatus, ModelChoice, TurnOutcome } from './agent.ts'
import { agentError } from './errors.ts'
import { hasInput } from './inbox.ts'
import type { Loop } from './loop-contract.ts'

export interface DriverOptions {
  readonly ctx: Context
  readonly session: Session
  readonly scope: Scope
  readonly preset: string
  readonly account: Account
  readonly authority: Authority
  readonly choice: ModelChoice
  readonly parent: Agent | undefined
  readonly onClose: () => void
}

interface Running {
  readonly abort: AbortController
  readonly outcome: Promise<TurnOutcome>
  waiting: string | undefined
}

/**
 * The state machine of one agent: idle, or running one turn after the other while turns complete
 * and free input waits. A turn that ends otherwise leaves the rest of the inbox for a person.
 */
export function createAgent(options: DriverOptions): Agent {
  const { session, scope } = options
  let running: Running | undefined
  let closing: Promise<void> | undefined

  const start = (): Running => {
    const loop: Loop | undefined = options.ctx.get('loop')
    if (!loop) throw agentError('LOOP_MISSING')
    const abort = new AbortController()
    const control = {
      signal: abort.signal,
      waiting: (what: string | undefined) => void (current.waiting = what),
    }
    // Started a microtask later, so that `current` exists when the loop first uses it.
    const outcome = Promise.resolve().then(() => loop.runTurn(agent, control))
    const current: Running = { abort, waiting: undefined, outcome: outcome.finally(() => settle()) }
    const settle = () => void (running = undefined)
    running = current
    void current.outcome.then(goOn)
    return current
  }

  const goOn = (outcome: TurnOutcome) => {
    const free = outcome.reason === 'completed' && hasInput(session.inbox)
    if (free && !closing && !running) start()
  }

  const splice = async (data: Parameters<typeof inboxSplice>[0]) => {
    if (closing) throw agentError('AGENT_CLOSED', { id: session.id })
    await session.append([inboxSplice(data)])
  }

  const put = async (text: string, queue: InboxQueue): Promise<Message> => {
    if (text.trim() === '') throw agentError('MESSAGE_EMPTY')
    const message = textMessage(ulid(), 'user', text, { kind: 'user' })
    await splice({ inserted: [{ queue, message }], cause: 'send' })
    return message
  }

  const agent: Agent = {
    id: session.id,
    session,
    scope,
    preset: options.preset,
    account: options.account,
    authority: options.authority,
    choice: options.choice,
    parent: options.parent,
    get status(): AgentStatus {
      if (!running) return { kind: 'idle' }
      const waiting = running.waiting === undefined ? {} : { waiting: running.waiting }
      return { kind: 'running', turn: session.turn.turn, ...waiting }
    },
    async send(text, { queue = 'next-turn', wake = true } = {}) {
      const message = await put(text, queue)
      if (wake) void agent.wake()
      return message
    },
    steer: (text) => agent.send(text, { queue: 'next-step' }),
    unsend: (ids) => splice({ removed: [...ids], cause: 'edit' }),
    release: (ids) => splice({ released: [...ids], cause: 'edit' }),
    async wake() {
      if (running) return running.outcome
      if (closing || !hasInput(session.inbox)) return undefined
      return start().outcome
    },
    async cancel(reason = 'cancelled') {
      const current = running
      current?.abort.abort(reason)
      await current?.outcome
    },
    async idle() {
      while (running) await running.outcome
    },
    close: () =>
      (closing ??= (async () => {
        running?.abort.abort('closed')
        await running?.outcome
        options.onClose()
        options.account.close()
        await scope.close()
        await session.close()
      })()),
  }
  return agent
}
