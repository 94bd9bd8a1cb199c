import type { AnyPlugin, ConfiguredRow, Plugin } from '../kernel/index.ts'
import { reasonOf } from '../kernel/index.ts'
import { originOf } from './composition.ts'
import type { Prepared, PreparedRow, ReadyRow } from './prepared.ts'
import type { Note } from './problem.ts'

/** What plugins say of rows that are sound: each row is seen with those of its preset and of all. */
export async function adviceOn({ rows, presets }: Prepared): Promise<Note[]> {
  const own = await configured(rows)
  const notes = adviceOf(own, own)
  for (const preset of presets.values()) {
    const those = await configured(preset)
    notes.push(...adviceOf(those, [...own, ...those]))
  }
  // A row that several presets inherit is one row.
  return [...new Map(notes.map((note) => [JSON.stringify(note), note])).values()]
}

interface Configured extends ConfiguredRow {
  readonly ready: ReadyRow
}

async function configured(rows: readonly PreparedRow[]): Promise<Configured[]> {
  const found = rows.map(async (ready): Promise<Configured[]> => {
    if (ready.state !== 'ready') return []
    const { id, config } = ready.row
    const checked = await ready.plugin.Config?.['~standard'].validate(config)
    return [{ id, config: checked && 'value' in checked ? checked.value : config, ready }]
  })
  return (await Promise.all(found)).flat()
}

function adviceOf(rows: readonly Configured[], all: readonly ConfiguredRow[]): Note[] {
  return rows.flatMap(({ id, config, ready: { row, plugin } }) => {
    return ask(plugin, config, all).map(({ key, text }): Note => {
      const { file, line } = originOf(row, key === undefined ? [] : ['config', key])
      return { file, line, row: id, message: `The row "${id}": ${text}` }
    })
  })
}

function ask(plugin: AnyPlugin, config: unknown, rows: readonly ConfiguredRow[]) {
  try {
    return (plugin as Partial<Plugin>).advise?.(config, rows) ?? []
  } catch (error) {
    return [{ text: `its plugin cannot look at the configuration: ${reasonOf(error)}` }]
  }
}
