import { settle } from '../tool/index.ts'
import { loopError } from './errors.ts'
import type { TurnRun } from './run.ts'

/**
 * What `work` comes to. Once the turn is cancelled it has the grace period to end by itself; after
 * that it is left behind, its result and its failure dropped, and this rejects.
 */
export async function bounded<T>(
  { signal, clock, config, endingSince }: TurnRun,
  what: string,
  work: () => Promise<T> | T,
): Promise<T> {
  const graceMs = config.cancelGraceMs
  const settled = await settle(work, { signal, graceMs, clock, endingSince })
  if (settled.kind === 'value') return settled.value
  if (settled.kind === 'error') throw settled.error
  throw loopError('NOTHING_SETTLED', { what, graceMs })
}
