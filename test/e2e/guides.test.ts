import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { linkWorkspace } from '../../packages/kit/create-plugin/test/workspace.ts'
import { cleanEnv } from './fixture/cli.ts'
import { startGateway, type Gateway } from './fixture/gateway.ts'
import { packed } from './fixture/installation.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'
import { latestSession } from './fixture/read-log.ts'
import { kindOf, runWarm } from './fixture/warm-cli.ts'

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

function envOf(place: Place) {
  const { PATH } = cleanEnv(place)
  const own = packed === undefined ? [] : [join(packed, 'node_modules/.bin')]
  // The Node itself: the one in .bin is a script of six processes, and gives its NODE_PATH away.
  const node = dirname(process.execPath)
  const path = [...own, node, join(repository, 'node_modules/.bin'), PATH].join(':')
  return cleanEnv(place, { LITELLM_API_KEY: 'key-of-test', PATH: path })
}

function shell(place: Place, line: string, cwd = place.project): Promise<ShellResult> {
  const options = { cwd, env: envOf(place) }
  return new Promise((done) => {
    const child = execFile('sh', ['-c', line], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      done({ code, output: `${line}\n${stdout}${stderr}` })
    })
    child.stdin?.end()
  })
}

/** What has been started by a shell, on whichever page. */
const started = new Set<string>()
const NEEDS_NO_SHELL = /^cordage((?: +(?:"[^"]*"|[\w./:=@-]+))*) *(?:#.*)?$/

/** A shell starts each kind of command; the lines after it of the same kind share a process. */
async function runLine(place: Place, line: string, cwd: string): Promise<ShellResult> {
  const words = cwd === place.project ? NEEDS_NO_SHELL.exec(line)?.[1] : undefined
  const args = words?.match(/"[^"]*"|\S+/g)?.map((word) => word.replaceAll('"', ''))
  if (args === undefined || !started.has(kindOf(args))) {
    if (args !== undefined) started.add(kindOf(args))
    return shell(place, line, cwd)
  }
  const { code, stdout, stderr } = await runWarm(place, args, { env: envOf(place) })
  return { code: code ?? -1, output: `${line}\n${stdout}${stderr}` }
}

/** A block that begins with the name of a file in a comment is that file. */
async function writeNamed({ text }: Block, place: Place): Promise<void> {
  const name = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text)?.[1]
  if (name === undefined) return
  const file = name.replace('$CORDAGE_HOME', place.home)
  await writeFile(resolve(place.project, file), text)
}

/**
 * Runs the lines of a block in the directory that a `cd` before them went to; gives the last one.
 * A line says in a comment when it does not exit with 0.
 */
async function runLines({ text }: Block, place: Place, start: string): Promise<string> {
  let cwd = start
  for (const line of text.trim().split('\n')) {
    if (line.startsWith('cd ')) {
      cwd = resolve(cwd, line.slice(3))
      continue
    }
    // What a registry would bring is here already.
    if (line === 'npm install') {
      await linkWorkspace(cwd)
      continue
    }
    const id = line.includes('<id>') ? latestSession(place.home) : ''
    const expected = Number(/# exit (\d+)$/.exec(line)?.[1] ?? 0)
    const { code, output } = await runLine(place, line.replaceAll('<id>', id), cwd)
    expect(code, output).toBe(expected)
  }
  return cwd
}

/** A page is some twenty processes one after the other. */
const PAGE = { timeout: 300_000 }

/** Does what a page says, block by block; `gateway` stands for the servers that it names. */
async function follow(page: string, place: Place, gateway?: Gateway): Promise<void> {
  const blocks = blocksOf(page)
  let cwd = place.project
  for (const { language, text } of blocks) {
    const block = { language, text: gateway?.standIn(text) ?? text }
    await writeNamed(block, place)
    const isCommand = /^(\w+=\S+ )*(cordage|npm) /.test(block.text)
    if (language === 'sh' && isCommand) cwd = await runLines(block, place, cwd)
  }
  expect(blocks.length).toBeGreaterThan(2)
}

describe('guides', () => {
  const gateways = 'docs/guide/gateways.md'
  const pages = globSync('docs/guide/*.md', { cwd: repository })
  // A release is made in a checkout by its maintainers: test/packed runs its scripts.
  const apart = [gateways, 'docs/guide/release.md']
  const others = pages.filter((page) => !apart.includes(page))

  it.each(others)('%s holds files and commands that work in their order', PAGE, async (page) => {
    await using place = await makePlace()
    await follow(page, place)
  })

  it(`${gateways} reaches each server as it says, one of them through a proxy`, PAGE, async () => {
    await using place = await makePlace()
    await using gateway = await startGateway()
    await follow(gateways, place, gateway)
    const asked = gateway.requests.map(({ path, headers, body }) => {
      const { model = 'the list' } = (body ?? {}) as { model?: string }
      return `${path} ${model} ${headers.authorization}`
    })
    const chat = '/v1/chat/completions'
    expect([...new Set(asked)]).toEqual([
      '/v1/models the list undefined',
      `${chat} qwen3 undefined`,
      `${chat} Qwen/Qwen3-8B undefined`,
      '/v1/models the list Bearer key-of-test',
      `${chat} gpt-large Bearer key-of-test`,
    ])
    expect(new Set(gateway.tunnelled)).toEqual(new Set([new URL(gateway.url).host]))
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
