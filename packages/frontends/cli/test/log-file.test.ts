import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogRecord } from '@cordage/core/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLogFile } from '../src/boot/log-file.ts'
import { createRedactor } from '../src/boot/secrets.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'cordage-log-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const record = (text: string): LogRecord => ({ time: 0, level: 'info', name: 'test', text })
const asIs = (text: string) => text

describe('the log file', () => {
  it('starts anew at its size and keeps three old ones', () => {
    const { file, sink } = createLogFile(join(folder, 'logs/cordage.log'), asIs)
    const line = 'x'.repeat(100_000)
    for (let n = 0; n < 120; n++) sink(record(`${n} ${line}`))
    const names = readdirSync(join(folder, 'logs')).sort()
    expect(names).toEqual(['cordage.log', 'cordage.log.1', 'cordage.log.2', 'cordage.log.3'])
    const sizes = names.map((name) => statSync(join(folder, 'logs', name)).size)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 1024 * 1024)
    expect(readFileSync(file, 'utf8')).toContain('119 x')
    expect(readFileSync(`${file}.3`, 'utf8')).not.toContain('119 x')
  })

  it('keeps the last records in memory where the disk takes none', () => {
    writeFileSync(join(folder, 'logs'), 'a file where the folder should be')
    const { sink, recent } = createLogFile(join(folder, 'logs/cordage.log'), asIs)
    for (let n = 0; n < 600; n++) sink(record(String(n)))
    expect(recent()).toHaveLength(500)
    expect(recent().at(-1)?.text).toBe('599')
  })

  it('puts a record of several lines so that none of them looks like another record', () => {
    const { file, sink } = createLogFile(join(folder, 'cordage.log'), asIs)
    sink(record('one\n1970-01-01T00:00:00.000Z error forged'))
    expect(readFileSync(file, 'utf8').split('\n')[1]).toBe(
      '  1970-01-01T00:00:00.000Z error forged',
    )
  })
})

describe('secrets in a log', () => {
  it('are hidden by the name of their variable, before any row is there', () => {
    const env = { MY_API_KEY: 'abcdefgh', DB_PASSWORD: 'hunter2hunter2', EDITOR: 'nano-editor' }
    const redact = createRedactor(env, () => undefined)
    expect(redact('abcdefgh hunter2hunter2 nano-editor')).toBe('[redacted] [redacted] nano-editor')
  })

  it('of a few characters stay, for they are in ordinary text', () => {
    expect(createRedactor({ A_TOKEN: 'yes' }, () => undefined)('yes')).toBe('yes')
  })
})
