import type { Agent } from '@cordage/core/agent'
import { Reference, type Composition, type Row } from '@cordage/core/compose'
import type { Context } from '@cordage/core/kernel'
import { preStep } from '@cordage/core/loop'
import { digest, sessionComposition, type ComposedRow } from '@cordage/core/session'

interface Running {
  readonly profile: string
  readonly composition: Composition
}

/** Has every session say with which rows and authority its steps are run. */
export function noteComposition(ctx: Context, running: () => Running): void {
  const rows = new WeakMap<Composition, ComposedRow[]>()
  preStep.use(ctx, async (input, next) => {
    const { agent } = input
    const { profile, composition } = running()
    const known = rows.get(composition) ?? composedRows(composition)
    rows.set(composition, known)
    const fact = factOf(agent, profile, known)
    if (agent.session.state(sessionComposition) !== fact.digest) {
      await agent.session.append([sessionComposition(fact)], { sync: false })
    }
    return next()
  })
}

function factOf({ preset, authority }: Agent, profile: string, rows: ComposedRow[]) {
  const { mode, writableRoots } = authority
  const data = { profile, preset, mode, writableRoots: [...writableRoots], rows }
  return { ...data, digest: digest(JSON.stringify(data)) }
}

/** The rows of a composition and of its presets, with nothing of the environment. */
export function composedRows({ rows, presets }: Composition): ComposedRow[] {
  const inPresets = [...presets.values()].flatMap(({ name, rows }) => {
    return rows.map((row) => ({ ...composedRow(row), preset: name }))
  })
  return [...rows.map(composedRow), ...inPresets]
}

function composedRow({ id, name, written, disabled, optional }: Row): ComposedRow {
  return {
    id,
    name,
    ...(Object.keys(written).length > 0 ? { config: readable(written) } : {}),
    ...(disabled ? { disabled } : {}),
    ...(optional ? { optional } : {}),
  }
}

function readable(config: Row['written']): Record<string, unknown> {
  const text = JSON.stringify(config, (_, value: unknown) => {
    return value instanceof Reference ? { [value.tag]: value.text } : value
  })
  return JSON.parse(text) as Record<string, unknown>
}
