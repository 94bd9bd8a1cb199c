import { execFileSync, spawnSync } from 'node:child_process'
import { delimiter, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const bin = join(root, 'node_modules/.bin')
const path = (process.env['PATH'] ?? '').split(delimiter)
const system = path.filter((folder) => !folder.includes('node_modules/.bin'))

/** What `run` of the scripts prints when a script was not started by npm. */
function runTool(folders: string[], tool: string, ...args: string[]): string {
  const call = `run('${tool}', ${JSON.stringify(args)})`
  const code = `import { run } from '${join(root, 'scripts/run.mjs')}'; ${call}`
  const env = { PATH: folders.join(delimiter), HOME: process.env['HOME'] }
  const options = { env, cwd: root, encoding: 'utf8' } as const
  return execFileSync(process.execPath, ['--input-type=module', '--eval', code], options).trim()
}

describe('scripts that are started without npm', () => {
  it('find the tools of the workspace', () => {
    expect(runTool(system, 'tsc', '--version')).toMatch(/^Version /)
  })

  it('leave npm its own Node, beside which its settings for all users are', () => {
    const asked = ['config', 'get', 'globalconfig']
    const options = { env: { PATH: system.join(delimiter), HOME: process.env['HOME'] } } as const
    const own = execFileSync('npm', asked, { ...options, cwd: root, encoding: 'utf8' }).trim()
    expect(runTool([bin, ...system], 'npm', ...asked)).toBe(own)
  })
})

describe('scripts that run several tools', () => {
  const together = (...codes: string[]) => {
    const commands = codes.map((code) => [process.execPath, '--eval', code])
    const list = commands.map((command) => JSON.stringify(command)).join(', ')
    const module = join(root, 'scripts/run.mjs')
    const code = `import { runTogether } from '${module}'; await runTogether(${list}); console.log('went on')`
    const args = ['--input-type=module', '--eval', code]
    return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  }

  it('let each come to its end, and then fail for any of them', () => {
    // The second one ends only after the first has failed.
    const slow = "setTimeout(() => console.error('to the end'), 300)"
    const { status, stdout, stderr } = together('process.exit(3)', slow)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(`to the end\nfailed: ${process.execPath}\n`)
  })

  it('go on when all of them ended well', () => {
    expect(together('', '')).toMatchObject({ status: 0, stdout: 'went on\n' })
  })
})
