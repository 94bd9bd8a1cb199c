import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
let text: string
let validate: ValidateFunction

beforeAll(async () => {
  place = await makePlace('empty')
  const { code, stdout, stderr } = await runCli(place, ['config', 'schema'])
  expect(code, stderr).toBe(0)
  text = stdout
  validate = new Ajv2020({ strict: false, allErrors: true }).compile(JSON.parse(text) as object)
})
afterAll(() => place[Symbol.asyncDispose]())

/** A reference is its text: what it will be is known only when the layer is composed. */
const customTags = ['!env', '!path'].map((tag) => ({ tag, resolve: (value: string) => value }))

function errorsIn(layer: string): string[] {
  const valid = validate(parse(layer, { customTags, logLevel: 'error' }))
  return valid ? [] : (validate.errors ?? []).map((error) => error.instancePath)
}

const good = {
  nothing: '# only a comment\n',
  'new rows': '- insert: [{ id: mine, name: ./mine.ts, optional: true, config: { any: 1 } }]\n',
  'a whole config': '- { id: policy-retry, config: { maxRetries: 2, codes: [RATE_LIMIT] } }\n',
  'a part, and a key taken out': `- id: model-openai
  merge: { providers: { deepseek: null, openai: { timeoutMs: null, models: [{ id: x }] } } }
`,
  'a new route': `- id: model-openai
  merge:
    providers: { own: { displayName: Own, api: openai-completions, baseURL: !env OWN_URL } }
`,
  switches: '- { id: tool-bash, disabled: true }\n- { id: model-scripted, remove: true }\n',
  'a row of another profile': '- { id: store-memory, disabled: true, profiles: [sdk-minimal] }\n',
  'a preset': `- preset: reviewer
  extends: standard
  rows:
    - { id: tool-write, remove: true }
    - { id: tool-bash, merge: { timeoutMs: 30000 } }
    - { id: tool-own, name: ./own.ts, config: { any: [1] } }
`,
  'a reference': '- { id: store-jsonl, merge: { directory: !path ./sessions } }\n',
}

const bad = {
  'a mapping': 'id: tool-bash\n',
  'an unknown row': '- { id: tool-bahs, disabled: true }\n',
  'an unknown key': '- { id: policy-retry, confg: {} }\n',
  'an unknown field': '- { id: policy-retry, config: { maxRetry: 2 } }\n',
  'an unknown field in depth':
    '- { id: model-openai, merge: { providers: { openai: { modles: [] } } } }\n',
  'a value of another kind': '- { id: core-loop, config: { maxParallelToolCalls: many } }\n',
  'a value out of range': '- { id: core-loop, merge: { maxParallelToolCalls: 0 } }\n',
  'a value that is none of the known': '- { id: store-jsonl, merge: { compression: gzip } }\n',
  'a route without its address': `- id: model-anthropic
  config: { providers: { own: { displayName: Own } } }
`,
  'config and merge': '- { id: policy-retry, config: {}, merge: {} }\n',
  'nothing to change': '- { id: policy-retry }\n',
  'a switch that is text': "- { id: tool-bash, disabled: 'true' }\n",
  'a row without a name': '- insert: [{ id: mine }]\n',
  'a change of a preset’s row': `- preset: reviewer
  rows: [{ id: tool-bash, merge: { timeoutMs: soon } }]
`,
}

describe('the schema of layers', () => {
  it.each(Object.entries(good))('takes %s', (_, layer) => expect(errorsIn(layer)).toEqual([]))

  it.each(Object.entries(bad))('refuses %s', (_, layer) => expect(errorsIn(layer)).not.toEqual([]))

  it('agrees with what composing says of the same layers', async () => {
    const layer = Object.values(good)
      .join('')
      .replaceAll('OWN_URL', '"OWN_URL ?? https://own.example"')
    const file = join(place.base, 'good.yml')
    await writeFile(join(place.base, 'mine.ts'), 'export default { name: "mine", apply() {} }\n')
    await writeFile(join(place.base, 'own.ts'), 'export default { name: "own", apply() {} }\n')
    await writeFile(file, layer.replace(/- \{ id: store-memory.*\n/, ''))
    const checked = await runCli(place, ['--patch', file, 'config', 'check'])
    expect(checked.code, checked.stdout).toBe(0)
    await writeFile(file, Object.values(bad).slice(1).join(''))
    const refused = await runCli(place, ['--patch', file, 'config', 'check'])
    for (const line of [1, 2]) expect(refused.stdout).toContain(`good.yml:${line}:`)
    expect(refused.code).toBe(78)
  })

  it('describes every field of every row that ships, and its default', () => {
    const { $defs } = JSON.parse(text) as { $defs: Record<string, Described> }
    const rows = Object.entries($defs).filter(([name]) => name.startsWith('config-'))
    expect(rows.length).toBeGreaterThan(25)
    const bare = rows.flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { description }]) =>
        description === undefined ? [`${name}.${field}`] : [],
      ),
    )
    expect(bare).toEqual([])
    const retries = $defs['config-policy-retry']?.properties?.['maxRetries']
    expect(retries).toMatchObject({ type: 'integer', default: 5 })
  })
})

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
}

describe('a YAML language server', () => {
  const layer = `- id: policy-retry
  config:
    maxRetry: 2
- id: core-loop
  merge:
    maxParallelToolCalls: many
- id: model-openai
  merge:
    providers: { team: { baseURL: !env TEAM_URL } }
`

  it('shows mistakes at their lines, and says what a field means', async () => {
    await writeFile(join(place.base, 'schema.json'), text)
    await using server = await startServer(join(place.base, 'schema.json'))
    const file = pathToFileURL(join(place.base, 'cordis.patch.yml')).href
    const { diagnostics } = await server.open(file, layer)
    expect(diagnostics.map(({ range }) => range.start.line)).toEqual([2, 5])
    expect(diagnostics[0]?.message).toContain('maxRetry')
    const hover = await server.ask('textDocument/hover', {
      textDocument: { uri: file },
      position: { line: 5, character: 8 },
    })
    expect(JSON.stringify(hover)).toContain('1 is serial')
    const offered = await server.ask('textDocument/completion', {
      textDocument: { uri: file },
      position: { line: 2, character: 4 },
    })
    expect(JSON.stringify(offered)).toContain('initialDelayMs')
  })
})

interface Diagnostics {
  readonly uri: string
  readonly diagnostics: readonly { range: { start: { line: number } }; message: string }[]
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
}

/** The server of editors, over stdio, with `schema` for every layer. */
async function startServer(schema: string) {
  const require = createRequire(import.meta.url)
  const bin = require.resolve('yaml-language-server/bin/yaml-language-server')
  const child = spawn(process.execPath, [bin, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number | string, (value: unknown) => void>()
  const send = (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  }
  const settings = {
    yaml: {
      schemas: { [pathToFileURL(schema).href]: '*.patch.yml' },
      customTags: ['!env scalar', '!path scalar'],
      schemaStore: { enable: false },
      hover: true,
      completion: true,
    },
  }
  readMessages(child.stdout, (message) => {
    if (message.method === 'workspace/configuration') {
      const { items } = message.params as { items: { section: string }[] }
      const values = items.map(({ section }) => (section === 'yaml' ? settings.yaml : null))
      send({ id: message.id, result: values })
    } else if (message.method === 'textDocument/publishDiagnostics') {
      waiting.get((message.params as Diagnostics).uri)?.(message.params)
    } else if (message.method !== undefined && message.id !== undefined) {
      send({ id: message.id, result: null })
    } else waiting.get(message.id ?? -1)?.(message.result)
  })
  let count = 0
  const ask = (method: string, params: object) => {
    const id = ++count
    const answer = new Promise<unknown>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    return answer
  }
  await ask('initialize', {
    processId: process.pid,
    rootUri: null,
    capabilities: { workspace: { configuration: true, didChangeConfiguration: {} } },
  })
  send({ method: 'initialized', params: {} })
  send({ method: 'workspace/didChangeConfiguration', params: { settings } })
  return {
    ask,
    open: (uri: string, content: string) => {
      const published = new Promise<unknown>((resolve) => waiting.set(uri, resolve))
      const textDocument = { uri, languageId: 'yaml', version: 1, text: content }
      send({ method: 'textDocument/didOpen', params: { textDocument } })
      return published as Promise<Diagnostics>
    },
    [Symbol.asyncDispose]: async () => void child.kill(),
  }
}

function readMessages(stream: NodeJS.ReadableStream, take: (message: Message) => void): void {
  let bytes = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      const length = Number(/Content-Length: (\d+)/.exec(bytes.subarray(0, end).toString())?.[1])
      if (end < 0 || bytes.length < end + 4 + length) return
      take(JSON.parse(bytes.subarray(end + 4, end + 4 + length).toString()) as Message)
      bytes = bytes.subarray(end + 4 + length)
    }
  })
}
