import type { BootOptions } from '../boot/boot.ts'
import type { OutputFormat } from '@cordage/core/command'
import type { Mode } from '@cordage/core/policy'

/** What every command takes. */
export interface GlobalOptions {
  readonly profile: string
  readonly patch: readonly string[]
  readonly safe: boolean
  readonly lastGood: boolean
  readonly debug: boolean
}

/** What the options say about which composition to boot. */
export function bootOptionsOf({ profile, patch, safe, lastGood }: GlobalOptions): BootOptions {
  return { profile, patches: patch, safe, lastGood }
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
  /** Of `resume` and `continue`. */
  readonly interrupted?: boolean
}
