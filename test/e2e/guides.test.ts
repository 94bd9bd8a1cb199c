import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cleanEnv } from './fixture/cli.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'

interface Block {
  readonly language: string
  readonly text: string
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(repository, page), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => {
    return { language, text }
  })
}

interface ShellResult {
  readonly code: number
  readonly output: string
}

function shell(place: Place, line: string): Promise<ShellResult> {
  const { PATH, ...env } = cleanEnv(place)
  const path = `${join(repository, 'node_modules/.bin')}:${PATH}`
  const options = { cwd: place.project, env: { ...env, PATH: path } }
  return new Promise((done) => {
    const child = execFile('sh', ['-c', line], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      done({ code, output: `${line}\n${stdout}${stderr}` })
    })
    child.stdin?.end()
  })
}

async function latestSession(place: Place): Promise<string> {
  const { output } = await shell(place, 'cordage sessions list --limit 1 --output json')
  return /"id": "(\w+)"/.exec(output)?.[1] ?? 'none'
}

/** A block that begins with the name of a file in a comment is that file. */
async function writeNamed({ text }: Block, place: Place): Promise<void> {
  const name = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1]
  if (name === undefined) return
  const file = name.replace('$CORDAGE_HOME', place.home)
  await writeFile(resolve(place.project, file), text)
}

/** Runs the lines of a block; a line says in a comment when it does not exit with 0. */
async function runLines({ text }: Block, place: Place): Promise<void> {
  for (const line of text.trim().split('\n')) {
    const id = line.includes('<id>') ? await latestSession(place) : ''
    const expected = Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0)
    const { code, output } = await shell(place, line.replaceAll('<id>', id))
    expect(code, output).toBe(expected)
  }
}

/** A page is some twenty processes one after the other. */
const PAGE = { timeout: 300_000 }

describe('guides', () => {
  const pages = globSync('docs/guide/*.md', { cwd: repository })

  it.each(pages)('%s holds files and commands that work in their order', PAGE, async (page) => {
    await using place = await makePlace()
    const blocks = blocksOf(page)
    for (const block of blocks) {
      await writeNamed(block, place)
      if (block.language === 'sh' && block.text.startsWith('cordage ')) await runLines(block, place)
    }
    expect(blocks.length).toBeGreaterThan(2)
  })

  it('embeds a harness as the page about starting says', async () => {
    await using place = await makePlace()
    const [block] = blocksOf('docs/guide/start.md').filter(({ language }) => language === 'js')
    const quoted = (block?.text ?? '').replaceAll("'", '"')
    const line = `cd '${repository}' && node --input-type=module --eval '${quoted}'`
    const { code, output } = await shell(place, line)
    expect({ code, end: output.trim().split('\n').at(-1) }).toEqual({ code: 0, end: 'completed' })
  })
})
