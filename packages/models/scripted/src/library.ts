import { readdirSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { modelError } from '@cordage/core/model'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { script, type Script } from './script.ts'

const EXTENSIONS = new Set(['.yml', '.yaml', '.json'])

/** Where recorded runs are found by name. */
export interface Library {
  names(): string[]
  /** Throws `UNKNOWN_MODEL` for a name that nobody recorded, `INVALID_REQUEST` for a bad file. */
  find(name: string): Script
}

/** The runs of each folder, by the name of the file, before those of `inline`. */
export function openLibrary(
  folders: readonly string[],
  inline: Readonly<Record<string, Script>>,
): Library {
  const files = new Map(folders.flatMap(listFolder))
  // Read once: how often a step has failed is remembered by the step.
  const read = new Map<string, Script>()
  const names = () => [...new Set([...Object.keys(inline), ...files.keys()])].sort()
  return {
    names,
    find: (name) => {
      const given = Object.hasOwn(inline, name) ? inline[name] : undefined
      if (given) return given
      const file = files.get(name)
      if (file !== undefined) {
        const known = read.get(name) ?? readScript(name, file)
        read.set(name, known)
        return known
      }
      const reason = `recorded are ${names().join(', ')}`
      throw modelError('UNKNOWN_MODEL', { model: `scripted/${name}`, reason })
    },
  }
}

function listFolder(folder: string): [string, string][] {
  return readdirSync(folder)
    .map((file) => ({ file, ...parse(file) }))
    .filter(({ ext }) => EXTENSIONS.has(ext))
    .map(({ file, name }) => [name, join(folder, file)])
}

function readScript(name: string, file: string): Script {
  const model = `scripted/${name}`
  let data: unknown
  try {
    data = parseYaml(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw modelError('INVALID_REQUEST', { model, reason: `${file} is no YAML` }, { cause })
  }
  const parsed = script.safeParse(data)
  if (parsed.success) return parsed.data
  const reason = `${file}: ${z.prettifyError(parsed.error)}`
  throw modelError('INVALID_REQUEST', { model, reason }, { cause: parsed.error })
}
