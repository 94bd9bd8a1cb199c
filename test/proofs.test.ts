import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')

it('names tests, bench rows and pages that exist', () => {
  const output = execFileSync(process.execPath, [join(root, 'scripts/proofs.mjs')], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(output).toMatch(/^\d{2,} claims, \d{2,} proofs, \d+ claims without one\n$/)
})
