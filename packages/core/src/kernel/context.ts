import type { Context as Container, Fiber } from 'cordis'
import type { Host } from './host.ts'

export type { Fiber } from 'cordis'

/** Services by key. Each owner adds its own with `declare module '@cordage/core/kernel'`. */
export interface Services {
  host: Host
}

declare module 'cordis' {
  interface Context extends Services {}
}

type LogMethod = (format: unknown, ...args: unknown[]) => void

/** Formats `%s %d %i %f %o %O %j`; never throws. Prefer `log()` where there are fields. */
export type Logger = Record<'error' | 'warn' | 'info' | 'debug', LogMethod>

/**
 * What every plugin may do. Services are not readable here: a plugin reads those it injects
 * (`PluginContext`), and anybody may ask with `get`, which answers undefined while none is active.
 */
export interface Context {
  readonly root: Context
  readonly fiber: Fiber
  readonly logger: Logger
  get<K extends keyof Services>(name: K): Services[K] | undefined
  /** Undone when the plugin unloads; an async `execute` must be awaited or its failure vanishes. */
  effect: Container['effect']
  on: Container['on']
  plugin: Container['plugin']
  /** Runs `callback` as a sub-plugin while all `names` are there: the way to use optional services. */
  inject<K extends keyof Services>(names: K[], callback: (ctx: PluginContext<K>) => unknown): Fiber
}

/** The context of a plugin that injects `K`: reading any other service does not compile. */
export type PluginContext<K extends keyof Services = never> = Context & Readonly<Pick<Services, K>>

/** The root reads every service, undefined while none provides it. */
export type RootContext = Context & { readonly [K in keyof Services]: Services[K] }
