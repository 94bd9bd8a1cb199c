import {
  difference,
  problemText,
  type RowDifference,
  type ValueDescription,
} from '@cordage/core/compose'
import { composeRequestOf } from '../boot/boot.ts'
import { composeProfile } from '../boot/layers.ts'
import { jsonText, tableText } from '../print/table.ts'
import { bootOptionsOf, type ListOptions } from './options.ts'

const INVALID = 78
const DIFFERENT = 1

/**
 * Says what the overlays change, or without overlays, what the installation's and home's layers
 * change of the profile: 0 for nothing, 1 for something, as `diff` does.
 */
export async function diffConfig(profile: string | undefined, given: ListOptions): Promise<number> {
  const options = profile === undefined ? given : { ...given, profile }
  const request = composeRequestOf(bootOptionsOf(options))
  const plain =
    request.patches.length > 0 ? { ...request, patches: [] } : { ...request, safe: true }
  const before = composeProfile(plain).composition
  const after = composeProfile(request).composition
  const found = difference(before, after)
  const text = () => found.map(rowText).join('\n') || 'No difference.\n'
  process.stdout.write(options.output === 'json' ? jsonText(found) : text())
  for (const problem of after.problems) process.stderr.write(`${problemText(problem)}\n`)
  if (after.problems.length > 0) return INVALID
  return found.length > 0 ? DIFFERENT : 0
}

const SIGNS = { added: '+', removed: '-', changed: '~' }

function rowText({ id, kind, presets, values, removed }: RowDifference): string {
  const where = presets.length === 0 ? '' : ` in the preset ${presets.join(', ')}`
  const by = removed === undefined ? '' : ` (${removed.kind}: ${removed.file}:${removed.line})`
  const lines = values.flatMap(({ path, before, after }): string[][] => [
    ...(before ? [[`  - ${path}`, before.value, placeOf(before)]] : []),
    ...(after ? [[`  + ${path}`, after.value, placeOf(after)]] : []),
  ])
  return `${SIGNS[kind]} ${id}${where}${by}\n${tableText(kind === 'removed' ? [] : lines)}`
}

function placeOf({ kind, file, line }: ValueDescription): string {
  return `${kind}: ${file}:${line}`
}
