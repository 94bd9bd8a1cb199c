import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { needs } from '../fixture/needs.ts'
import { cleanEnv, runCli } from './fixture/cli.ts'
import { startGateway } from './fixture/gateway.ts'
import { cordageBin } from './fixture/installation.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'
import { sessionIds } from './fixture/read-log.ts'

/** Blocks that guides.test.ts neither runs nor writes to a file: it knows commands by their start. */
function otherBlocks(): string[] {
  // A release is made in a checkout by its maintainers: test/packed runs its scripts.
  const pages = globSync('docs/guide/*.md', { cwd: repository, exclude: ['**/release.md'] })
  return pages.flatMap((page) => {
    const text = readFileSync(join(repository, page), 'utf8')
    return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
      .map(([, language = '', block = '']) => ({ language, block }))
      .filter(({ language, block }) => {
        const runs = language === 'sh' && /^(\w+=\S+ )*(cordage|npm) /.test(block)
        const isFile = /^(?:#|\/\/) \S+\.\w+\n/.test(block)
        return !runs && !isFile
      })
      .map(({ block }) => block)
  })
}

const find = (start: string) => otherBlocks().find((block) => block.startsWith(start)) ?? 'exit 9'

function shell(place: Place, block: string) {
  const options = { cwd: place.project, env: cleanEnv(place) }
  return promisify(execFile)('sh', ['-ec', block], options)
}

describe('the blocks of the guides that no command of ours begins', () => {
  it('are these, and one of a program that embeds a harness', () => {
    const starts = otherBlocks().map((block) => block.split(/[ \n]/, 2).join(' '))
    const known = ['export DEEPSEEK_API_KEY=…', 'git diff', 'import {', 'zstd -dc']
    expect(starts.toSorted()).toEqual(known)
  })

  it('read a log with stock zstd', async (test) => {
    needs(test, 'zstd')
    await using place = await makePlace()
    await runCli(place, ['--model', 'scripted/fix-a-bug', '--max-steps', '1', 'Fix the test'])
    const [id = ''] = sessionIds(place.home)
    const block = find('zstd').replace('~/.cordage', place.home).replace('<id>', id)
    expect((await shell(place, block)).stdout).toContain('Fix the test')
  })

  it('give keys and addresses by variables, and a task by a pipe', async () => {
    await using place = await makePlace()
    await using gateway = await startGateway()
    await shell(place, 'git init --quiet && git add . && echo "// edge" >> src/cart.js')
    const exported = find('export')
      .replace('DEEPSEEK_API_KEY=…', 'UNRELATED=1')
      .replace(/http:\S+/, `${gateway.url}/v1`)
    const piped = find('git diff').replace('cordage', `node '${cordageBin}'`)
    const { stdout } = await shell(place, `${exported}\n${piped}`)
    expect(stdout).toBe('ready\n')
    const [{ text = '' } = {}] = gateway.requests
    expect(text).toMatch(/review this.*\+\/\/ edge/s)
  })
})
