import type { SessionUsage } from './session-usage.ts'
import { addSpend, countSpend, NO_SPEND, type Spend } from './spend.ts'
import type { Tallied, ToolSpend } from './tally.ts'

export type Breakdown = 'model' | 'tool' | 'child' | 'purpose' | 'day'

/** A line of a breakdown. Without their `tool`, lines add up to what was spent in all. */
export interface BreakdownLine {
  readonly name: string
  /** Of a tool, what the children spent that its calls started. */
  readonly spend: Spend
  readonly tool?: ToolSpend
  /** Of a child, how far below a session that nobody started. */
  readonly depth?: number
}

/** What sessions and all their children spent, by one thing; each of them is counted once. */
export function breakDown(by: Breakdown, given: readonly SessionUsage[]): BreakdownLine[] {
  const sessions = outermost(given)
  if (by === 'child') return sessions.flatMap((session) => childLines(session, 0))
  const every = sessions.flatMap(withChildren)
  if (by === 'tool') return toolLines(every)
  const spends = new Map<string, Spend>()
  for (const { own } of every) {
    for (const [name, spend] of membersOf(own, by)) countSpend(spends, name, spend)
  }
  const lines = [...spends].map(([name, spend]) => ({ name, spend }))
  return by === 'day' ? lines.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : lines
}

/** Without those that are among the children of another. */
export function outermost(sessions: readonly SessionUsage[]): SessionUsage[] {
  const below = sessions.flatMap(({ children }) => children.flatMap(withChildren))
  const ids = new Set(below.map(({ header }) => header.id))
  return sessions.filter(({ header }) => !ids.has(header.id))
}

/** What a breakdown's lines come to. */
export function sumOf(lines: readonly BreakdownLine[]): Spend {
  return lines.reduce((sum, { spend }) => addSpend(sum, spend), NO_SPEND)
}

function membersOf(own: Tallied, by: 'model' | 'purpose' | 'day'): ReadonlyMap<string, Spend> {
  return { model: own.models, purpose: own.purposes, day: own.days }[by]
}

function withChildren(session: SessionUsage): SessionUsage[] {
  return [session, ...session.children.flatMap(withChildren)]
}

function childLines({ header, own, children }: SessionUsage, depth: number): BreakdownLine[] {
  const below = children.flatMap((child) => childLines(child, depth + 1))
  return [{ name: header.id, spend: own.total, depth }, ...below]
}

function toolLines(every: readonly SessionUsage[]): BreakdownLine[] {
  const tools = new Map<string, ToolSpend>()
  const spends = new Map<string, Spend>()
  for (const { own, children } of every) {
    for (const [name, { calls, errors, ms }] of own.tools) {
      const sum = tools.get(name) ?? { calls: 0, errors: 0, ms: 0 }
      const added = { calls: sum.calls + calls, errors: sum.errors + errors, ms: sum.ms + ms }
      tools.set(name, added)
    }
    for (const child of children) {
      const tool = own.childTools.get(child.header.id)
      if (tool !== undefined) countSpend(spends, tool, child.own.total)
    }
  }
  return [...tools]
    .toSorted(([, a], [, b]) => b.ms - a.ms)
    .map(([name, tool]) => ({ name, tool, spend: spends.get(name) ?? NO_SPEND }))
}
