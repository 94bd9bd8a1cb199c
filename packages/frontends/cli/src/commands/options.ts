import type { OutputFormat } from '@cordage/core/command'
import type { Mode } from '@cordage/core/policy'

/** What every command takes. */
export interface GlobalOptions {
  readonly profile: string
  readonly patch: readonly string[]
  readonly safe: boolean
  readonly debug: boolean
}

export interface ListOptions extends GlobalOptions {
  readonly output: 'text' | 'json'
}

export interface RunOptions extends GlobalOptions {
  readonly cwd?: string
  readonly model?: string
  readonly effort?: string
  readonly permission?: Mode
  readonly output: OutputFormat
  readonly maxSteps?: number
  readonly maxTokens?: number
  readonly maxCost?: number
  /** Milliseconds. */
  readonly timeout?: number
  readonly quiet: boolean
  readonly takeOver: boolean
}
