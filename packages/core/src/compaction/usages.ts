import type { Usage } from '../message/index.ts'
import { assistantMessage, compactionEnd, type Session } from '../session/index.ts'
import type { UsageRecord } from './compressor.ts'

/** The last answer's and the last compaction's, in the order they came. */
export function usagesOf(session: Session): readonly UsageRecord[] {
  const answer = session.state(assistantMessage)
  const { usage: summary } = session.state(compactionEnd)
  const records: UsageRecord[] = []
  if (answer) records.push(Object.freeze(recordOf(answer.usage)))
  if (summary) {
    const record = Object.freeze({ ...recordOf(summary.usage), source: summary.source })
    if (answer && answer.seq > summary.seq) records.unshift(record)
    else records.push(record)
  }
  return Object.freeze(records)
}

function recordOf({ inputTokens, outputTokens }: Usage): UsageRecord {
  return { promptTokens: inputTokens, completionTokens: outputTokens }
}
