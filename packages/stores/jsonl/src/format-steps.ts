import type { Fact, SessionHeader } from '@cordage/core/session'
import { storeError } from '@cordage/core/store'
import { type FrameMeta, formatVersion } from './frame.ts'

/** How the records of one format become those of the next. A fact keeps its `seq` and `time`. */
export interface FormatStep {
  readonly from: number
  readonly to: number
  readonly fact: (fact: Fact) => Fact
  readonly header: (header: SessionHeader) => SessionHeader
}

/** From the oldest format on. Format 1 is the first that there was. */
export const formatSteps: readonly FormatStep[] = []

/** The steps that lead from format `from` to the present one. Throws `STORE_DAMAGED` without any. */
export function stepsFrom(
  steps: readonly FormatStep[],
  from: number,
  id: string,
): readonly FormatStep[] {
  const taken: FormatStep[] = []
  for (let format = from; format < formatVersion;) {
    const step = steps.find((one) => one.from === format)
    if (!step) {
      const reason = `it is of format ${format}, which this version does not read any more`
      throw storeError('STORE_DAMAGED', { id, reason })
    }
    taken.push(step)
    format = step.to
  }
  return taken
}

/** The header that a frame bears, as the present format has it. */
export function headerIn(
  meta: FrameMeta | undefined,
  steps: readonly FormatStep[],
): SessionHeader | undefined {
  if (!meta?.header) return undefined
  const taken = stepsFrom(steps, meta.v, meta.session)
  return taken.reduce((before, step) => step.header(before), meta.header)
}
