import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findShell } from '../src/shell.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordage-shell-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A program that prints how it was called. */
function put(name: string): string {
  const program = join(folder, name)
  writeFileSync(program, '#!/bin/sh\nfor word in "$@"; do printf "[%s]" "$word"; done\n')
  chmodSync(program, 0o755)
  return program
}

function run(argv: readonly string[]): string {
  const [program = '', ...words] = argv
  return execFileSync(program, words, { encoding: 'utf8' })
}

describe('the shell', () => {
  it('is bash where there is one, whatever else there is', () => {
    for (const name of ['pwsh', 'sh', 'bash']) put(name)
    const shell = findShell(folder, 'linux')
    expect(shell.kind).toBe('bash')
    expect(run(shell.argv('-x; echo "中文"'))).toBe('[-c][--][-x; echo "中文"]')
  })

  it('is PowerShell where there is neither bash nor sh, given the command as one word', () => {
    put('pwsh')
    const shell = findShell(folder, 'linux')
    expect(shell.kind).toBe('powershell')
    expect(run(shell.argv('Get-Item "a b"'))).toBe(
      '[-NoProfile][-NonInteractive][-Command][Get-Item "a b"]',
    )
  })

  it('is PowerShell on Windows, the newer one where it is installed', () => {
    put('bash')
    expect(findShell(folder, 'win32').argv('dir')[0]).toBe('powershell.exe')
    const newer = put('pwsh')
    expect(findShell(folder, 'win32').argv('dir')[0]).toBe(newer)
  })

  it('is the system one where the path names none, and never one of a relative folder', () => {
    expect(findShell(folder, 'linux').argv('true')[0]).toBe('/bin/sh')
    put('bash')
    expect(findShell('.', 'linux').kind).toBe('sh')
  })
})
