import type { Io } from '@cordage/core/store'
import type { FormatStep } from './format-steps.ts'

/** Where a log lies, and what brings older ones up to date. */
export interface LogPlace {
  readonly io: Io
  readonly directory: string
  readonly steps: readonly FormatStep[]
}
