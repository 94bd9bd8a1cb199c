import { compose } from '../../src/compose/index.ts'
import type {
  ComposeOptions,
  Composition,
  LayerKind,
  LayerSource,
  Row,
} from '../../src/compose/index.ts'

/** One layer a kind, in the order given, each in the file `/<kind>/cordis.patch.yml`. */
export function layersOf(texts: Partial<Record<LayerKind, string>>): LayerSource[] {
  return Object.entries(texts).map(([kind, text]) => ({
    kind: kind as LayerKind,
    name: kind,
    file: `/${kind}/cordis.patch.yml`,
    text,
  }))
}

export function composed(
  texts: Partial<Record<LayerKind, string>>,
  options: Partial<ComposeOptions> = {},
): Composition {
  return compose(layersOf(texts), { profile: 'headless', env: {}, ...options })
}

export function rowOf(rows: readonly Row[], id: string): Row {
  const row = rows.find((row) => row.id === id)
  if (row === undefined) throw new Error(`no row ${id} in ${rows.map((row) => row.id).join()}`)
  return row
}
