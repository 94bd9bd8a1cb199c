import { describeFailure, log, type Context, type Entry } from '../kernel/index.ts'
import { pinnedFactSchema, type PinnedFact } from '../session/index.ts'
import type { CompactedAgent } from './compressor.ts'

/** Facts of a plugin that no summary may lose, as the open items of a list. */
export interface PinContributor {
  readonly id: string
  /** All that holds now: it replaces what the last summary carried of this contributor. */
  pins(agent: CompactedAgent): readonly Pinned[] | Promise<readonly Pinned[]>
}

/** The kind says what sort of fact it is (`todo`, `goal`), as those that summaries carry. */
export type Pinned = Pick<PinnedFact, 'kind' | 'text' | 'seq'>

/** By the id of the contributor; `undefined` where it failed: what it said last is still carried. */
export type Pins = ReadonlyMap<string, readonly PinnedFact[] | undefined>

/** What each contributor says now. */
export async function askPinners(
  ctx: Context,
  entries: readonly Entry<PinContributor>[],
  agent: CompactedAgent,
): Promise<Pins> {
  const pins = new Map<string, readonly PinnedFact[] | undefined>()
  for (const { id, row, value } of entries) {
    try {
      const facts = await value.pins(agent)
      pins.set(
        id,
        facts.map((fact) => pinnedFactSchema.parse({ ...fact, by: id })),
      )
    } catch (error) {
      log(ctx, 'error', 'facts that a summary is to carry cannot be had', {
        row,
        error: describeFailure(error),
      })
      pins.set(id, undefined)
    }
  }
  return pins
}
