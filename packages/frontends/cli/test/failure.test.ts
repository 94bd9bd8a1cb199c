import {
  closeSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noteLoading, noteSessions } from '../src/boot/underway.ts'
import { checkText } from '../src/commands/config.ts'
import { failureText, outputFailureText } from '../src/print/failure.ts'
import { unexpectedEndText } from '../src/print/unexpected-end.ts'

let folder: string
beforeEach(() => (folder = realpathSync(mkdtempSync(join(tmpdir(), 'cordage-failure-')))))
afterEach(() => {
  noteSessions(() => [])
  rmSync(folder, { recursive: true })
})

const logFile = '/home/logs/cordage.log'
const late = { debug: false, logFile, late: true }

describe('a late failure', () => {
  it('says where it was thrown and what goes on, and keeps foreign words to the log', () => {
    const file = join(folder, 'late.mjs')
    const error = new TypeError('secret words')
    error.stack = `TypeError: secret words\n    at tick (${file}:3:1)`
    noteSessions(() => ['01ABC'])
    expect(failureText(error, late)).toBe(
      `cordage: Unexpected TypeError; the log has details. [INTERNAL] Details are in ${logFile}; ` +
        `--debug shows them here.\n  thrown, with nobody to catch it, at ${file}:3\n` +
        '  go on with: cordage resume 01ABC\n',
    )
  })

  it('that ends nothing says so, and not how to go on', () => {
    noteSessions(() => ['01ABC'])
    const told = failureText(new TypeError('left alone'), { ...late, ends: false })
    expect(told).toContain('what runs goes on')
    expect(told).not.toContain('resume')
  })

  it('that is no error names whose code may have thrown it', () => {
    const file = join(folder, 'late.mjs')
    writeFileSync(file, '')
    noteLoading(file, './late.mjs', folder)
    expect(failureText('words', late)).toMatch(/not ours: the plugins of .*\.\/late\.mjs/)
    expect(failureText('words', { debug: false, logFile })).not.toContain('late.mjs')
  })
})

describe('an answer that does not get out', () => {
  it.runIf(process.platform === 'linux')('is told in the words of the system', () => {
    const full = openSync('/dev/full', 'w')
    let failure: unknown
    try {
      writeSync(full, 'answer')
    } catch (error) {
      failure = error
    } finally {
      closeSync(full)
    }
    expect(outputFailureText(failure)).toBe(
      'cordage: stdout cannot be written: no space left on device. [OUTPUT_FAILED]\n',
    )
  })
})

describe('an end that nobody decided', () => {
  it('names the rows that may have made it, where there are any', () => {
    expect(unexpectedEndText([])).toMatch(/before the command was done\n$/)
    expect(unexpectedEndText(['a', 'b'])).toMatch(/\(not ours: the plugins of a, b\)\n$/)
  })
})

describe('a check of a composition', () => {
  const checked = { profile: 'mine', rows: 1, presets: {}, refused: [], notes: [], problems: [] }

  it('says that one without a frontend is for embedding', () => {
    const starts = 'The profile mine would start: 1 rows.\n'
    expect(checkText({ ...checked, frontend: true })).toBe(starts)
    expect(checkText({ ...checked, frontend: false })).toBe(
      `${starts}It has no frontend: only for embedding.\n`,
    )
  })
})
