import { execFileSync } from 'node:child_process'
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
