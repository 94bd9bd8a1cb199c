import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compose } from '@cordage/core/compose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { foreignFrame, foreignRows, noteLoading, noteRows } from '../src/boot/underway.ts'

let folder: string
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordage-underway-')))))
afterEach(() => rmSync(folder, { recursive: true }))

/** The stack of an error that `files` threw, the innermost first. */
function stackOf(...files: string[]): string {
  const frames = files.map((file, i) =>
    i % 2 === 0 ? `    at async run (${pathToFileURL(file).href}:7:3)` : `    at ${file}:7:3`,
  )
  return ['Error: at (/not/a/frame.js:1:1)', '    at node:internal/timers:1:1', ...frames].join(
    '\n',
  )
}

const ours = import.meta.filename

describe('the place of a failure', () => {
  it('is the first frame that is not ours, with the row of its plugin', () => {
    const file = join(folder, 'theirs.mjs')
    const layer = join(folder, 'mine.yml')
    writeFileSync(file, '')
    const text = '- insert: [{ id: their-row, name: ./theirs.mjs }]\n'
    noteRows(
      compose([{ kind: 'overlay', name: layer, file: layer, text }], { profile: 'p', env: {} }),
    )
    noteLoading(file, './theirs.mjs', layer)
    expect(foreignFrame(stackOf(ours, ours, file))).toBe(`${file}:7 (row "their-row")`)
    expect(foreignFrame(stackOf(join(folder, 'lib/part.mjs'), file))).toBe(
      `${join(folder, 'lib/part.mjs')}:7 (row "their-row")`,
    )
    expect(foreignRows()).toContain('their-row')
  })

  it('is a file alone where no row is known, and nothing where all of it is ours', () => {
    mkdirSync(join(folder, 'a b'))
    const file = join(folder, 'a b/other.mjs')
    expect(foreignFrame(stackOf(ours, file))).toBe(`${file}:7`)
    expect(foreignFrame(stackOf(ours, ours))).toBeUndefined()
    expect(foreignFrame('')).toBeUndefined()
  })

  it('is not asked of our own plugins', () => {
    noteLoading(ours, 'our-plugin', ours)
    expect(foreignRows()).not.toContain('our-plugin')
  })
})
