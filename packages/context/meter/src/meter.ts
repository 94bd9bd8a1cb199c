import type { ContextMeter, MeterInput, Pressure } from '@cordage/core/compaction'
import { addUsage, NO_USAGE, type Usage } from '@cordage/core/message'
import { estimateMessage, estimateTool, imagePrice } from '@cordage/core/model'
import {
  assistantMessage,
  attemptFailed,
  compactionEnd,
  requestContext,
  type Session,
  type ToolSpec,
} from '@cordage/core/session'
import { breakDown, type FileSources } from './breakdown.ts'
import { SurfaceSums } from './surface-sums.ts'

/** A provider that reports less of what an estimate says than this has not counted it all. */
const MIN_SHARE = 1 / 3

/** The three figures of a session, none of which reads its log. */
export function createMeter(files: FileSources): ContextMeter {
  const known = new WeakMap<Session, SurfaceSums>()

  const sumsOf = ({ session, target }: MeterInput): SurfaceSums => {
    const sums = known.get(session) ?? new SurfaceSums()
    known.set(session, sums)
    return sums.at(session.surface, target)
  }

  return {
    measure(input) {
      const { target, params, pending = [] } = input
      const { contextWindow, maxTokens } = target.info
      const price = imagePrice(target)
      const outputTokens = Math.min(params.maxTokens ?? maxTokens, maxTokens)
      const waiting = pending.reduce((sum, one) => sum + estimateMessage(one, price), 0)
      const { anchored, estimated } = project(input, sumsOf(input))
      return {
        projectedTokens: anchored + estimated + waiting,
        anchoredTokens: anchored,
        contextWindow,
        outputTokens,
      } satisfies Pressure
    },
    contextBreakdown: (input) => breakDown(input, files),
    cumulativeUsage,
  }
}

/** What the last usage counted, and an estimate of all that it does not cover. */
function project({ session, target }: MeterInput, sums: SurfaceSums) {
  const last = session.state(assistantMessage)
  const tools = toolTokens(session.requestHeader?.tools)
  const whole = { anchored: 0, estimated: tools + sums.total }
  if (!last || last.usage.estimated) return whole
  const covered = sums.upTo(last.seq)
  const isOther = last.model !== `${target.provider}/${target.model}`
  // What stands on the surface now is not what it was of.
  const isCompacted = (session.state(compactionEnd).seq ?? -1) > last.seq
  // Nor were the tools and the system prompt, which have a header each time they change.
  const isOfOlderHeader = (session.state(requestContext)?.seq ?? -1) > last.seq
  if (isOther || isCompacted || isOfOlderHeader || covered === undefined) return whole
  const anchored = last.usage.inputTokens + last.usage.outputTokens
  if (anchored < (tools + covered) * MIN_SHARE) return whole
  return { anchored, estimated: sums.total - covered }
}

const known = new WeakMap<readonly ToolSpec[], number>()

/** A list of tools that was logged is never changed. */
function toolTokens(tools: readonly ToolSpec[] = []): number {
  const tokens = known.get(tools) ?? tools.reduce((sum, tool) => sum + estimateTool(tool), 0)
  known.set(tools, tokens)
  return tokens
}

function cumulativeUsage(session: Session): Usage {
  const answers = session.state(assistantMessage)
  const parts = [answers?.total ?? answers?.usage, session.state(attemptFailed), session.spent]
  return parts.reduce<Usage>((sum, part) => (part ? addUsage(sum, part) : sum), NO_USAGE)
}
