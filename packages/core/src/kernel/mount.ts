import { activate, type AnyPlugin } from './activate.ts'
import { assert } from './assert.ts'
import { checkConfig, type CheckedConfig } from './config.ts'
import { containerOf, FiberState } from './container.ts'
import type { Context, Fiber } from './context.ts'
import { blame, RowError, tagRow } from './row.ts'
import { adopt, scopeOf } from './scope.ts'
import { withTimeLimit } from './time-limit.ts'

/** `waiting` names the services that are missing. */
export type RowState =
  | { readonly state: 'active' }
  | { readonly state: 'waiting'; readonly needs: string[] }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'loading' }
  | { readonly state: 'disposed' }

export interface MountOptions {
  readonly id: string
  readonly plugin: AnyPlugin
  readonly config: unknown
  /** Limit of one activation, and of one teardown. */
  readonly timeoutMs: number
}

/** A mounted row. Only its owner updates and disposes it; nothing here restarts by itself. */
export interface Mounted {
  readonly id: string
  readonly plugin: AnyPlugin
  state(): RowState
  /** The state once nothing moves any more; never rejects. Another row may still change it. */
  settled(): Promise<RowState>
  /**
   * Stops and starts with `config`. Rejects with the old instance untouched if it is invalid,
   * and with the old config running again if the new activation fails.
   */
  update(config: unknown): Promise<void>
  /** Rejects with the row's name if a disposer hangs. Every call returns the same promise. */
  dispose(): Promise<void>
}

/** Mounts any plugin as row `id` on `ctx`; a scope closes its rows before itself. */
export function mount(ctx: Context, options: MountOptions): Mounted {
  return new MountedRow(ctx, options)
}

class MountedRow implements Mounted {
  readonly id: string
  readonly plugin: AnyPlugin
  readonly #ctx: Context
  readonly #timeoutMs: number
  readonly #release: () => void
  #fiber: Fiber | undefined
  #config: CheckedConfig | Promise<CheckedConfig>
  #error: Error | undefined
  #queue: Promise<void> = Promise.resolve()
  #disposing: Promise<void> | undefined

  constructor(ctx: Context, { id, plugin, config, timeoutMs }: MountOptions) {
    this.id = id
    this.plugin = plugin
    this.#ctx = tagRow(ctx, id)
    this.#timeoutMs = timeoutMs
    this.#config = checkConfig(id, plugin, config)
    // The container would leave a row with an invalid config looking as if it waited for a service.
    if ('error' in this.#config) this.#error = this.#config.error
    else this.#fiber = this.#start()
    const scope = scopeOf(ctx)
    this.#release = scope ? adopt(scope, () => this.dispose()) : () => {}
  }

  state(): RowState {
    const fiber = this.#fiber
    if (this.#disposing || fiber?.uid === null) return { state: 'disposed' }
    if (fiber?.state === FiberState.ACTIVE) return { state: 'active' }
    if (this.#error) return { state: 'failed', error: this.#error }
    if (fiber?.state === FiberState.PENDING) return { state: 'waiting', needs: missing(fiber) }
    return { state: 'loading' }
  }

  async settled(): Promise<RowState> {
    try {
      // A row in transition may first have to stop and then to start.
      if (this.#fiber) await this.#limit(idle(this.#fiber), 'settle', 2)
    } catch (error) {
      this.#error = blame(this.id, error)
    }
    return this.state()
  }

  update(config: unknown): Promise<void> {
    const run = this.#queue.then(() => this.#update(config))
    this.#queue = run.catch(() => {
      // The caller has the rejection; the queue goes on.
    })
    return run
  }

  dispose(): Promise<void> {
    this.#disposing ??= this.#dispose()
    return this.#disposing
  }

  #start(): Fiber {
    // No `Config`, since the container would check it again and cannot await; and an arrow of its
    // own, since the container identifies plugins by their callback.
    const apply = (ctx: Context) => this.#activate(ctx)
    const inject = this.plugin.inject ?? []
    return containerOf(this.#ctx).plugin({ name: this.id, inject, apply }).ctx.fiber
  }

  async #activate(ctx: Context): Promise<(() => unknown) | undefined> {
    this.#error = undefined
    // Disposed in the tick of the mount: the container applies it all the same.
    if (ctx.fiber.uid === null) return undefined
    let running: ReturnType<typeof activate> | undefined
    try {
      const config = await this.#config
      if ('error' in config) throw config.error
      running = activate(this.plugin, containerOf(ctx), config.value)
      return await this.#limit(running, 'become active')
    } catch (error) {
      this.#error = blame(this.id, error)
      if (running) void sweepLate(running, ctx.fiber)
      throw this.#error
    }
  }

  async #update(raw: unknown): Promise<void> {
    assert(!this.#disposing, `${this.id} cannot be updated, it is disposed`)
    const config = await checkConfig(this.id, this.plugin, raw)
    if ('error' in config) throw config.error
    const before = await this.#config
    const fiber = this.#fiber
    if (!fiber) return this.#startLate(config)
    // An update that arrives while the fiber is in transition is lost.
    await this.#limit(idle(fiber), 'settle', 2)
    const wasActive = fiber.state === FiberState.ACTIVE
    this.#config = config
    try {
      await this.#restart(fiber)
    } catch (error) {
      if (!wasActive || fiber.inertia || fiber.uid === null) throw error
      this.#config = before
      throw await this.#restore(fiber, error)
    }
  }

  async #startLate(config: CheckedConfig): Promise<void> {
    this.#config = config
    this.#error = undefined
    this.#fiber = this.#start()
    await this.settled()
    if (this.#error) throw this.#error
  }

  async #restart(fiber: Fiber): Promise<void> {
    await this.#limit(Promise.resolve(fiber.update(undefined)), 'restart', 2)
  }

  async #restore(fiber: Fiber, failure: unknown): Promise<Error> {
    const reason = reasonOf(this.id, failure)
    try {
      await this.#restart(fiber)
      return new RowError(this.id, `${reason} (the previous config was restored)`, failure)
    } catch (error) {
      const second = reasonOf(this.id, error)
      const text = `${reason}; restoring the previous config failed too: ${second}`
      return new RowError(this.id, text, failure)
    }
  }

  async #dispose(): Promise<void> {
    const fiber = this.#fiber
    const phases = fiber?.state === FiberState.LOADING ? 2 : 1
    try {
      // Not awaited: where a parent already disposes it, the container answers undefined at once.
      void fiber?.dispose()
      if (fiber) await this.#limit(idle(fiber), 'stop', phases)
    } finally {
      this.#release()
    }
  }

  #limit<T>(task: PromiseLike<T>, what: string, phases = 1): Promise<T> {
    const timeoutMs = this.#timeoutMs * phases
    const text = `did not ${what} within ${timeoutMs} ms`
    return withTimeLimit(task, timeoutMs, () => new RowError(this.id, text))
  }
}

async function idle(fiber: Fiber): Promise<void> {
  while (fiber.inertia) await fiber.inertia
}

function missing(fiber: Fiber): string[] {
  return Object.keys(fiber.inject).filter((name) => containerOf(fiber.ctx).get(name) === undefined)
}

function reasonOf(row: string, error: unknown): string {
  const { message } = blame(row, error)
  return message.startsWith(`${row}: `) ? message.slice(row.length + 2) : message
}

/**
 * Undoes what an activation registers after its time limit. The container accepts effects of a
 * failed fiber but never undoes them, not even when that fiber is disposed.
 */
async function sweepLate(running: ReturnType<typeof activate>, fiber: Fiber): Promise<void> {
  const late: (() => unknown)[] = []
  try {
    const disposer = await running
    if (disposer) late.push(disposer)
  } catch {
    // Its failure has been reported as the time limit.
  }
  if (fiber.uid !== null && fiber.state !== FiberState.FAILED) return
  // oxlint-disable-next-line no-underscore-dangle
  late.push(...fiber._disposables.clear())
  for (const undo of late) {
    try {
      await undo()
    } catch {
      // Nobody waits for this activation any more.
    }
  }
}
