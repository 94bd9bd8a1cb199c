import type { Agent, TurnControl } from '../agent/index.ts'
import type { Context, Services } from '../kernel/index.ts'
import type { Message } from '../message/index.ts'
import type { Clock } from '../store/index.ts'
import type { SeenFiles } from '../tool/index.ts'
import type { LoopConfig } from './config.ts'
import type { RequestMaker } from './request.ts'
import type { SurfaceIndex } from './surface-index.ts'

/** Everything the parts of one turn share. Lives exactly as long as the turn. */
export interface TurnRun {
  readonly ctx: Context
  /** Read once: the loop is started anew when one of them is another. */
  readonly services: Pick<Services, 'models' | 'tools' | 'prompt'>
  readonly config: LoopConfig
  readonly clock: Clock
  readonly agent: Agent
  readonly turn: number
  readonly signal: AbortSignal
  /** When `signal` aborted: all that has to end then shares one grace period. */
  readonly endingSince: () => number | undefined
  readonly seen: SeenFiles
  readonly requests: RequestMaker
  readonly index: SurfaceIndex
  readonly waiting: TurnControl['waiting']
  /** What the loop itself has to say to the model at the start of the next step. */
  readonly notes: Message[]
  /** Which model has taken the place of a chosen one, for this turn. */
  readonly standIns: Map<string, string>
}
