import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../e2e/fixture/cli.ts'
import { attack, call, makeTrap } from './attack.ts'

describe('a shell', () => {
  it('is unconfined in workspace-write, and every run says so', async () => {
    await using trap = await makeTrap()
    const asks = [call('bash', { command: `echo owned > ${join(trap.outside, 'owned.txt')}` })]
    const { outcomes, stderr } = await attack(trap, 'workspace-write', asks)
    expect(outcomes[0]).toMatchObject({ isError: false })
    expect(readFileSync(join(trap.outside, 'owned.txt'), 'utf8')).toBe('owned\n')
    expect(stderr).toContain('shell: unconfined')
    const args = [
      'run',
      '--model',
      'scripted/fix-a-bug',
      '--output',
      'json',
      '--max-steps',
      '1',
      'Go',
    ]
    const { stdout } = await runCli(trap, args)
    expect(JSON.parse(stdout)).toMatchObject({ shell: 'unconfined' })
  })

  it('cannot be started in read-only, so that what is denied there is not to be had by it', async () => {
    await using trap = await makeTrap()
    const asks = [
      call('write', { file_path: 'a.txt', content: 'x' }),
      call('bash', { command: 'echo x > a.txt' }),
      call('apply_patch', { patch: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch\n' }),
      call('edit', { file_path: 'src/plain.txt', old_string: 'one', new_string: 'two' }),
    ]
    const { outcomes } = await attack(trap, 'read-only', asks)
    expect(outcomes.map(({ code }) => code)).toEqual(asks.map(() => 'TOOL_DENIED'))
    expect(existsSync(join(trap.project, 'a.txt'))).toBe(false)
  })

  it('that changes its directory moves nobody else', async () => {
    await using trap = await makeTrap()
    const asks = [
      call('bash', { command: `cd ${trap.outside} && pwd` }),
      call('write', { file_path: 'after.txt', content: 'x' }),
      call('bash', { command: 'pwd' }),
      call('bash', { command: 'cd out && pwd -P; touch by-shell.txt' }),
      call('write', { file_path: 'by-tool.txt', content: 'x' }),
    ]
    const { outcomes } = await attack(trap, 'workspace-write', asks)
    expect(existsSync(join(trap.project, 'after.txt'))).toBe(true)
    expect(existsSync(join(trap.project, 'by-tool.txt'))).toBe(true)
    expect(outcomes[2]?.text).toContain(trap.project)
  })
})

describe('a hard link to a file elsewhere', () => {
  it('is replaced, not written through: the file elsewhere stays', async () => {
    await using trap = await makeTrap()
    const asks = [
      call('read', { file_path: 'hard.txt' }),
      call('edit', { file_path: 'hard.txt', old_string: 'untouched', new_string: 'owned' }),
    ]
    const { outcomes } = await attack(trap, 'workspace-write', asks)
    expect(outcomes[1]).toMatchObject({ isError: false })
    expect(readFileSync(join(trap.outside, 'target.txt'), 'utf8')).toBe('untouched\n')
  })
})

describe('a directory that is swapped for a link all the time', () => {
  it('never leads a write outside', async () => {
    await using trap = await makeTrap()
    await mkdir(join(trap.project, 'real'))
    await symlink(trap.outside, join(trap.project, 'link'))
    // A write that finds no target makes one: it is put aside, as it would stop the swapping.
    // A runner that is killed takes the swapping with it.
    const swap = `
      const { renameSync } = require('node:fs')
      const swapOnce = (name) => { renameSync(name, 'target'); renameSync('target', name) }
      for (let made = 0; process.ppid === ${process.pid}; ) {
        try { swapOnce('real'); swapOnce('link') }
        catch { renameSync('target', 'made-' + made++) }
      }`
    const swapper = spawn(process.execPath, ['-e', swap], { cwd: trap.project, stdio: 'ignore' })
    try {
      const seen = { denied: false, written: false }
      // How the two meet is up to the machine: on until both sides of the race were met.
      for (let round = 0; round < 3 || !(seen.denied && seen.written); round += 1) {
        const asks = Array.from({ length: 50 }, (_, at) =>
          call('write', { file_path: `target/file-${round}-${at}.txt`, content: 'x' }),
        )
        const { outcomes } = await attack(trap, 'workspace-write', asks)
        expect(outcomes).toHaveLength(50)
        expect(swapper.exitCode).toBe(null)
        expect(readdirSync(trap.outside)).toEqual(['target.txt'])
        seen.denied ||= outcomes.some(({ code }) => code === 'TOOL_DENIED')
        seen.written ||= outcomes.some(({ isError }) => !isError)
      }
    } finally {
      swapper.kill('SIGKILL')
    }
  })
})
