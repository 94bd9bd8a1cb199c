import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { needs } from '../fixture/needs.ts'
import { cleanEnv, runCli } from './fixture/cli.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, type Place } from './fixture/place.ts'

/** What `line` prints in a terminal, `cordage` being there as a variable of the shell. */
function inTerminal(place: Place, line: string, env: Record<string, string> = {}): string {
  const command = `cordage="${process.execPath} ${cordageBin}"; ${line}`
  const options = { env: cleanEnv(place, env), cwd: place.project, encoding: 'utf8' } as const
  return execFileSync('script', ['-qec', command, '/dev/null'], options)
}

describe('cordage alone', () => {
  it('says which model is there, what was done here, and what to do next', async (test) => {
    needs(test, 'script')
    await using place = await makePlace()
    await runCli(place, ['--model', 'scripted/fix-a-bug', '--max-steps', '1', 'Fix the test'])
    const text = inTerminal(place, '$cordage', { OPENAI_API_KEY: 'sk-0123456789abcdef' })
    expect(text).toMatch(/model +openai\/gpt-5\.5 \(OPENAI_API_KEY of the environment\)/)
    expect(text).toMatch(/sessions +1 of this project; the latest of .*: Fix the test/)
    expect(text).toContain('cordage continue "now the docs"')
    expect(text).not.toMatch(/auth set|0123456789/)
  })

  it('says how to mend a configuration with which nothing starts', async (test) => {
    needs(test, 'script')
    await using place = await makePlace('empty')
    await writeFile(join(place.home, 'cordis.patch.yml'), '- { id: tool-bahs, disabled: true }\n')
    const text = inTerminal(place, '$cordage')
    expect(text).toMatch(/configuration has problems \(1\)/)
    expect(text).toContain('cordage config check')
  })

  it('names keys that are not kept safely instead of a model', async (test) => {
    needs(test, 'script')
    await using place = await makePlace('empty')
    const file = join(place.home, 'credentials.yml')
    await writeFile(file, 'OPENAI_API_KEY: sk-0123456789abcdef\n', { mode: 0o644 })
    expect(inTerminal(place, '$cordage')).toContain(`chmod 600 ${file}`)
  })

  it('prints its help where nobody reads along', async (test) => {
    needs(test, 'script')
    await using place = await makePlace('empty')
    expect(inTerminal(place, '$cordage | cat')).toMatch(/^Usage: cordage /)
  })
})
