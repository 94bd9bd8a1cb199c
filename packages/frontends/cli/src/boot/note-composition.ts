import type { Agent } from '@cordage/core/agent'
import { Reference, type Composition, type Row } from '@cordage/core/compose'
import type { Context } from '@cordage/core/kernel'
import { preStep } from '@cordage/core/loop'
import { digest, sessionComposition, type ComposedRow } from '@cordage/core/session'

interface Running {
  readonly profile: string
  readonly composition: Composition
}

/** The rows of a composition, written down once, and the digests of the facts they stand in. */
interface Written {
  readonly rows: ComposedRow[]
  readonly digests: Map<string, string>
}

/** Has every session say with which rows and authority its steps are run. */
export function noteComposition(ctx: Context, running: () => Running): void {
  const all = new WeakMap<Composition, Written>()
  preStep.use(ctx, async (input, next) => {
    const { session } = input.agent
    const { profile, composition } = running()
    const written = all.get(composition) ?? { rows: composedRows(composition), digests: new Map() }
    all.set(composition, written)
    const fact = factOf(input.agent, profile, written)
    if (session.state(sessionComposition) !== fact.digest) {
      await session.append([sessionComposition(fact)], { sync: false })
    }
    return next()
  })
}

function factOf({ preset, authority }: Agent, profile: string, { rows, digests }: Written) {
  const { mode, writableRoots } = authority
  const place = { profile, preset, mode, writableRoots: [...writableRoots] }
  const key = JSON.stringify(place)
  const known = digests.get(key) ?? digest(JSON.stringify({ ...place, rows }))
  digests.set(key, known)
  return { ...place, rows, digest: known }
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
