import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attack, call, makeTrap, SECRET, type Attacked, type Mode, type Trap } from './attack.ts'
import { lastingInfluence, leavingTheWorkspace, secrets, type Attempt } from './corpus.ts'

const corpora: { mode: Mode; attempts: readonly Attempt[] }[] = [
  { mode: 'workspace-write', attempts: [...leavingTheWorkspace, ...lastingInfluence, ...secrets] },
  { mode: 'full-access', attempts: [...lastingInfluence, ...secrets] },
]

describe.each(corpora)('in $mode, with nobody to ask,', ({ mode, attempts }) => {
  let trap: Trap
  let attacked: Attacked

  beforeAll(async () => {
    trap = await makeTrap()
    const reading = ['AGENTS.md', 'soft.txt'].map((path) => call('read', { file_path: path }))
    const calls = attempts.map((attempt) => attempt.call(trap))
    attacked = await attack(trap, mode, [...reading, ...calls])
    if (process.env['CORDAGE_SHOW']) {
      for (const [at, { title }] of attempts.entries()) {
        const { code, text } = attacked.outcomes[at + 2] ?? { code: 'none', text: '' }
        console.log(`${title}: ${code} ${text.slice(0, 160)}`)
      }
    }
  })
  afterAll(() => trap[Symbol.asyncDispose]())

  it.each(attempts.map(({ title }, at) => ({ title, at: at + 2 })))('refuses $title', ({ at }) => {
    const outcome = attacked.outcomes[at]
    expect(outcome).toMatchObject({ isError: true, code: 'TOOL_DENIED' })
    expect(outcome?.text).not.toContain(SECRET)
  })

  it('leaves everything around the workspace as it was', () => {
    expect(attacked.code, attacked.stderr).toBe(0)
    expect(readdirSync(trap.outside)).toEqual(['target.txt'])
    expect(readFileSync(join(trap.outside, 'target.txt'), 'utf8')).toBe('untouched\n')
    expect(existsSync(join(trap.home, 'cordis.patch.yml'))).toBe(false)
    expect(readdirSync(join(trap.project, '.git/hooks'))).toEqual([])
    expect(existsSync(join(trap.project, '.git/config'))).toBe(false)
    expect(readFileSync(join(trap.project, 'AGENTS.md'), 'utf8')).toBe('Be kind.\n')
  })

  it('shows no secret in the log, on the terminal or in the answer', () => {
    const { facts, stdout, stderr } = attacked
    for (const text of [JSON.stringify(facts), stdout, stderr]) expect(text).not.toContain(SECRET)
  })
})

describe('in read-only', () => {
  const attempts: Attempt[] = [
    ...leavingTheWorkspace,
    ...lastingInfluence,
    ...secrets,
    {
      title: 'writing in the project',
      call: () => call('write', { file_path: 'new.txt', content: 'x' }),
    },
    { title: 'a command', call: () => call('bash', { command: 'echo owned > owned.txt' }) },
    { title: 'a harmless command', call: () => call('bash', { command: 'true' }) },
  ]
  let trap: Trap
  let attacked: Attacked

  beforeAll(async () => {
    trap = await makeTrap()
    const read = call('read', { file_path: 'src/plain.txt' })
    const calls = attempts.map((attempt) => attempt.call(trap))
    attacked = await attack(trap, 'read-only', [read, ...calls])
  })
  afterAll(() => trap[Symbol.asyncDispose]())

  it('reads the project', () => {
    expect(attacked.outcomes[0]).toMatchObject({ isError: false })
  })

  it.each(attempts.map(({ title }, at) => ({ title, at: at + 1 })))('refuses $title', ({ at }) => {
    expect(attacked.outcomes[at]).toMatchObject({ isError: true, code: 'TOOL_DENIED' })
  })
})
