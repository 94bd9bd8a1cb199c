import { harmless, oneLine, tableText } from '../print/table.ts'
import type { SessionUsage } from './session-usage.ts'
import { addSpend, costText, countText, durationText, NO_SPEND, type Spend } from './spend.ts'
import type { Tallied } from './tally.ts'

const HEAD = ['', 'calls', 'input', 'cached', 'written', 'output', 'reasoning', 'cost', 'waited']

/** One session in full: what for, by which model, by which tool and child. */
export function usageText(session: SessionUsage): string {
  const { header, title, own, children, total } = session
  const rows = [
    HEAD,
    spendRow('total', total),
    ...(children.length > 0 ? [spendRow('itself', own.total)] : []),
    ...[...own.purposes].map(([purpose, spend]) => spendRow(`for ${purpose}`, spend)),
    ...[...own.models].map(([model, spend]) => spendRow(oneLine(model, 40), spend)),
    ...childRows(children, 1),
  ]
  const head = `${header.id}  ${oneLine(title ?? '', 60)}`.trimEnd()
  const size = `${own.turns} turns, ${own.steps} steps`
  return `${head}\n${size}\n${rightAligned(rows)}${toolsText(own)}${damageText(session)}`
}

/** Several sessions, a line each, and what they come to together. */
export function usagesText(sessions: readonly SessionUsage[]): string {
  const sum = sessions.reduce((all, { total }) => addSpend(all, total), NO_SPEND)
  const models = new Map<string, Spend>()
  const addModels = ({ own, children }: SessionUsage): void => {
    for (const [model, spend] of own.models) {
      models.set(model, addSpend(models.get(model) ?? NO_SPEND, spend))
    }
    children.forEach(addModels)
  }
  sessions.forEach(addModels)
  const rows = [
    HEAD,
    ...sessions.map(({ header, total }) => spendRow(header.id, total)),
    ...[...models].map(([model, spend]) => spendRow(oneLine(model, 40), spend)),
    spendRow('total', sum),
  ]
  return rightAligned(rows) + sessions.map(damageText).join('')
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
    total,
    own: own.total,
    purposes: Object.fromEntries(own.purposes),
    models: Object.fromEntries(own.models),
    tools: Object.fromEntries(own.tools),
    children: children.map(usageJson),
    ...rest,
  }
}

function childRows(children: readonly SessionUsage[], depth: number): string[][] {
  return children.flatMap(({ header, own, children: below }) => [
    spendRow(`${'  '.repeat(depth - 1)}child ${header.id}`, own.total),
    ...childRows(below, depth + 1),
  ])
}

function spendRow(name: string, spend: Spend): string[] {
  const { usage, calls, ms } = spend
  const counts = [
    calls,
    usage.inputTokens,
    usage.cacheReadTokens ?? 0,
    usage.cacheWriteTokens ?? 0,
    usage.outputTokens,
    usage.reasoningTokens ?? 0,
  ]
  return [name, ...counts.map(countText), costText(spend), durationText(ms)]
}

function toolsText({ tools }: Tallied): string {
  if (tools.size === 0) return ''
  const rows = [...tools]
    .sort(([, a], [, b]) => b.ms - a.ms)
    .map(([name, { calls, errors, ms }]) => {
      return [oneLine(name, 40), countText(calls), countText(errors), durationText(ms)]
    })
  return `\n${rightAligned([['tool', 'calls', 'errors', 'time'], ...rows])}`
}

/** All but the first column to the right: they are figures. */
function rightAligned(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0))
  const padded = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell : cell.padStart(width(column)))),
  )
  return tableText(padded)
}

function damageText({ header, damaged }: SessionUsage): string {
  return damaged === undefined ? '' : `${header.id} is not counted whole: ${harmless(damaged)}\n`
}
