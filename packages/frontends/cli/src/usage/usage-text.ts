import { harmless, oneLine, tableText } from '../print/table.ts'
import { breakDown, outermost, sumOf, type Breakdown, type BreakdownLine } from './breakdown.ts'
import type { SessionUsage } from './session-usage.ts'
import {
  addSpend,
  cachedText,
  costText,
  countText,
  durationText,
  NO_SPEND,
  type Spend,
} from './spend.ts'
import type { Tallied, ToolSpend } from './tally.ts'

const SPEND = [
  'calls',
  'failed',
  'input',
  'cached',
  'written',
  'output',
  'reasoning',
  'cost',
  'waited',
]
const TOOL = ['calls', 'errors', 'time']

/** One session in full: what for, by which model, by which tool and child. */
export function usageText(session: SessionUsage): string {
  const { header, title, own, children, total } = session
  const rows = [
    ['', ...SPEND],
    spendRow('total', total),
    ...(children.length > 0 ? [spendRow('itself', own.total)] : []),
    ...[...own.purposes].map(([purpose, spend]) => spendRow(`for ${purpose}`, spend)),
    ...[...own.models].map(([model, spend]) => spendRow(oneLine(model, 40), spend)),
    ...breakDown('child', [session]).slice(1).map(childRow),
  ]
  const head = `${header.id}  ${oneLine(title ?? '', 60)}`.trimEnd()
  return `${head}\n${sizeText(own)}\n${rightAligned(rows)}${toolsText(own)}${noteText([session])}`
}

/** Several sessions, a line each, and what they come to together. */
export function usagesText(sessions: readonly SessionUsage[]): string {
  const rows = [
    ['', ...SPEND],
    ...sessions.map(({ header, total }) => spendRow(header.id, total)),
    ...breakDown('model', sessions).map(({ name, spend }) => spendRow(oneLine(name, 40), spend)),
    spendRow('total', totalOf(sessions)),
  ]
  return rightAligned(rows) + noteText(sessions)
}

/** Sessions and their children together, by one thing. */
export function breakdownText(by: Breakdown, sessions: readonly SessionUsage[]): string {
  const lines = breakDown(by, sessions)
  if (by === 'tool') return toolTable(lines) + noteText(sessions)
  const rows = lines.map((line) => {
    return by === 'child' ? childRow(line) : spendRow(oneLine(line.name, 40), line.spend)
  })
  return (
    rightAligned([[by, ...SPEND], ...rows, spendRow('total', sumOf(lines))]) + noteText(sessions)
  )
}

/** The same for programs. */
export function usageJson({ header, title, own, children, total, ...rest }: SessionUsage): unknown {
  return {
    session: header.id,
    title,
    project: header.project,
    parent: header.parent,
    turns: own.turns,
    steps: own.steps,
    wallMs: own.wallMs,
    total,
    own: own.total,
    purposes: Object.fromEntries(own.purposes),
    models: Object.fromEntries(own.models),
    days: Object.fromEntries(own.days),
    tools: Object.fromEntries(own.tools),
    children: children.map(usageJson),
    ...rest,
  }
}

function sizeText({ turns, steps, wallMs, total, tools }: Tallied): string {
  const toolMs = [...tools.values()].reduce((sum, { ms }) => sum + ms, 0)
  const [wall, model, tool] = [wallMs, total.ms, toolMs].map(durationText)
  return `${turns} turns, ${steps} steps, ${wall} in all: models ${model}, tools ${tool}`
}

function childRow({ name, spend, depth = 0 }: BreakdownLine): string[] {
  const label = depth === 0 ? name : `${'  '.repeat(depth - 1)}child ${name}`
  return spendRow(label, spend)
}

function spendRow(name: string, spend: Spend): string[] {
  const { usage, calls, failed, ms } = spend
  return [
    name,
    countText(calls),
    countText(failed),
    `${usage.estimated ? '~' : ''}${countText(usage.inputTokens)}`,
    cachedText(usage),
    countText(usage.cacheWriteTokens ?? 0),
    `${usage.estimated ? '~' : ''}${countText(usage.outputTokens)}`,
    countText(usage.reasoningTokens ?? 0),
    costText(spend),
    durationText(ms),
  ]
}

function toolRow(name: string, { calls, errors, ms }: ToolSpend): string[] {
  return [oneLine(name, 40), countText(calls), countText(errors), durationText(ms)]
}

function toolsText({ tools }: Tallied): string {
  if (tools.size === 0) return ''
  const rows = [...tools].toSorted(([, a], [, b]) => b.ms - a.ms)
  const table = [['tool', ...TOOL], ...rows.map(([name, tool]) => toolRow(name, tool))]
  return `\n${rightAligned(table)}`
}

/** With what the children of each tool spent, where one started any. */
function toolTable(lines: readonly BreakdownLine[]): string {
  const starting = lines.some(({ spend }) => spend.calls > 0)
  const rows = lines.flatMap(({ name, tool, spend }) => {
    const cells = spendRow('', spend).slice(1)
    return tool ? [[...toolRow(name, tool), ...(starting ? cells : [])]] : []
  })
  const head = SPEND.map((name) => `its ${name}`)
  return rightAligned([['tool', ...TOOL, ...(starting ? head : [])], ...rows])
}

/** All but the first column to the right: they are figures. */
function rightAligned(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const padded = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell : cell.padStart(width(column)))),
  )
  return tableText(padded)
}

/** What the figures do not say. */
function noteText(sessions: readonly SessionUsage[]): string {
  const { unpriced, usage } = totalOf(sessions)
  const calls = unpriced === 1 ? '1 call has' : `${countText(unpriced)} calls have`
  const price = unpriced > 0 ? `${calls} no price: what they cost is not in it.\n` : ''
  const tokens = usage.estimated ? '~: some tokens are estimates; nobody counted them.\n' : ''
  return price + tokens + outermost(sessions).map(damageText).join('')
}

function totalOf(sessions: readonly SessionUsage[]): Spend {
  return outermost(sessions).reduce((all, { total }) => addSpend(all, total), NO_SPEND)
}

function damageText({ header, damaged, children }: SessionUsage): string {
  const below: string = children.map(damageText).join('')
  if (damaged === undefined) return below
  return `${header.id} is not counted whole: ${harmless(damaged)}\n${below}`
}
