import type { Scope } from '../kernel/index.ts'

/**
 * What an action does to the world, in canonical form: absolute resolved paths, the argv that
 * will run, the address that will be reached. Rules match on this and on nothing a model wrote.
 */
export type Effect =
  | { readonly kind: 'fs:read'; readonly path: string }
  | { readonly kind: 'fs:write'; readonly path: string }
  | {
      readonly kind: 'process'
      readonly argv: readonly string[]
      /** The text given to a shell, where one is started. */
      readonly command?: string
      readonly cwd: string
    }
  | { readonly kind: 'net'; readonly host: string; readonly port: number; readonly url?: string }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'spend'; readonly tokens: number; readonly purpose: string }
  | { readonly kind: 'spawn'; readonly preset: string }
  | { readonly kind: 'config'; readonly target: string }

export type EffectKind = Effect['kind']

export const modes = ['read-only', 'workspace-write', 'full-access'] as const
export type Mode = (typeof modes)[number]

/** What an agent may do at most. A child gets the intersection of its parent's and its own. */
export interface Authority {
  readonly mode: Mode
  /** Absolute directories that may be written in `workspace-write`. */
  readonly writableRoots: readonly string[]
  /** Hosts that may be reached without asking; `undefined` leaves it to mode and rules. */
  readonly netHosts?: readonly string[]
}

/** On whose behalf something happens. */
export interface Actor {
  readonly sessionId: string
  readonly agentId: string
  readonly authority: Authority
  /** Rules of this scope and of those around it apply; without one only global rules do. */
  readonly scope?: Scope
  /** The project whose grants apply. */
  readonly project?: string
  readonly tool?: string
  readonly callId?: string
}

export type Answer = 'allow' | 'ask' | 'deny'

/** `rule` names what decided (a mode, a protected path, a rule), `reason` is for people. */
export interface Decision {
  readonly answer: Answer
  readonly rule: string
  readonly reason: string
}
