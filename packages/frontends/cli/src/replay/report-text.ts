import { harmless, oneLine } from '../print/table.ts'
import type { Bisection } from './bisect.ts'
import type { Divergence } from './divergence.ts'
import type { ReplayReport } from './replay.ts'

const MAX_CHARS = 300

/** What a replay came to, for a person. */
export function reportText(report: ReplayReport): string {
  const { identical, divergences, surroundings } = report
  const counts = [
    counted(report.turns, 'turn'),
    counted(report.requests, 'request'),
    counted(report.calls, 'tool call'),
  ].join(', ')
  const head = identical
    ? `identical: ${counts}, every request the same to the byte`
    : `diverged in step ${placeOf(divergences[0])}, after ${counts}`
  const told = divergences.flatMap((found) => ['', ...linesOf(found)])
  const around =
    surroundings.length === 0
      ? []
      : ['', `taken from the log, because it is not so now: ${surroundings.join(', ')}`]
  return `${[head, ...told, ...around].join('\n')}\n`
}

/** What a bisection came to. */
export function bisectionText({ row, alone, differing, replays }: Bisection): string {
  const effort = `(${counted(replays, 'replay')} over ${counted(differing.length, 'row')})`
  if (row === undefined) {
    const rows = differing.length === 0 ? 'no row differs' : `of ${differing.join(', ')}`
    return `\nno single row changes the outcome: ${rows} ${effort}\n`
  }
  const how = alone ? 'alone' : 'together with those before it'
  return `\nthe row "${row}" ${how} changes the outcome ${effort}\n`
}

function linesOf({ kind, tool, callId, before, after, bytes }: Divergence): string[] {
  const about = tool === undefined ? '' : ` of ${tool} (${callId ?? ''})`
  const where = bytes ? ` at byte ${bytes.offset}: ${bytes.where}, ${bytes.path}` : ''
  return [
    `${kind}${harmless(about + where)}`,
    `  was: ${oneLine(before, MAX_CHARS)}`,
    `  now: ${oneLine(after, MAX_CHARS)}`,
  ]
}

function placeOf(found: Divergence | undefined): string {
  return `${found?.turn}.${found?.step}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
