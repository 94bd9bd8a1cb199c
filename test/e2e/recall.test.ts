import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  startModelPeer,
  streamReply,
  type ModelPeer,
} from '../../packages/kit/testkit/src/model-peer.ts'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { runCli } from './fixture/cli.ts'
import { makePlace, repository, type Place } from './fixture/place.ts'

let peer: ModelPeer
beforeAll(async () => (peer = await startModelPeer()))
afterAll(() => peer.close())

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly { readonly function: { readonly name: string } }[]
}

const textOf = (content: unknown) =>
  typeof content === 'string' ? content : JSON.stringify(content ?? '')

/** A model that decides by what the last tool gave, and knows nothing else. */
function decide({ messages }: Body): { call?: [name: string, args: object]; text?: string } {
  const given = messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content))
  const last = given.at(-1) ?? ''
  const told = messages.map(({ content }) => textOf(content)).find((one) => one.includes('keep in'))
  if (told !== undefined && given.length === 0) {
    const text = /The release harbor is called [\w-]+\./.exec(told)?.[0]
    return { call: ['memory_write', { text, scope: 'project', basis: 'user_said' }] }
  }
  if (told !== undefined) return { text: last.includes('Remembered as') ? 'Kept.' : 'Not kept.' }
  if (given.length === 0) return { call: ['memory_search', { query: 'release harbor' }] }
  const harbor = /harbor is called ([\w-]+)\./.exec(last)?.[1]
  if (harbor !== undefined) {
    return { call: ['write', { file_path: 'harbor.txt', content: `${harbor}\n` }] }
  }
  return { text: given.length > 1 ? 'Written.' : 'I do not know it.' }
}

/** The layer that the reference gives, and a route to the model. */
async function layers(place: Place): Promise<{ model: string[]; memory: string[] }> {
  const page = readFileSync(join(repository, 'docs/reference/memory.md'), 'utf8')
  const memory = join(place.base, 'memory.yml')
  await writeFile(memory, /^```yaml\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '')
  const route = join(place.base, 'route.yml')
  const local = {
    displayName: 'Local',
    api: 'openai-completions',
    baseURL: `${peer.url}/v1`,
    models: [{ id: 'one', contextWindow: 100_000, maxTokens: 1_000 }],
  }
  await writeFile(route, JSON.stringify([{ id: 'model-openai', merge: { providers: { local } } }]))
  return { model: ['--patch', route, '--model', 'local/one'], memory: ['--patch', memory] }
}

it('a value that one session is told is recalled and acted on by a fresh one, and by none of another project', async () => {
  await using place = await makePlace('empty')
  const { model, memory } = await layers(place)
  const harbor = `harbor-${randomBytes(6).toString('hex')}`
  peer.reply((response, request) => {
    const { call, text } = decide(request.body as Body)
    const calls = call && [{ id: 'c1', name: call[0], arguments: [JSON.stringify(call[1])] }]
    const answer = calls ? { calls } : { text: [text ?? ''] }
    return streamReply(encodeAnswer('openai-completions', answer))(response, request)
  })
  const run = async (at: Place, args: readonly string[], task: string) => {
    peer.requests.length = 0
    const { code, stdout, stderr } = await runCli(at, [...args, 'run', task])
    expect(code, stderr).toBe(0)
    return { stdout, bodies: peer.requests.map(({ body }) => body as Body) }
  }
  const on = [...model, ...memory]
  const task = 'Write the name of the release harbor into harbor.txt.'

  // Off unless a layer includes its rows: nothing of it is offered, and no file is made.
  const told = `Please keep in mind. The release harbor is called ${harbor}.`
  const off = await run(place, model, told)
  const names = ({ tools }: Body) => tools.map((tool) => tool.function.name)
  expect(off.bodies.flatMap(names).filter((name) => name.startsWith('memory_'))).toEqual([])
  expect(off.stdout).toContain('Not kept.')
  expect(existsSync(join(place.home, 'memories.db'))).toBe(false)

  expect((await run(place, on, told)).stdout).toContain('Kept.')

  // A fresh session, which is given nothing, asks for it, is told it, and acts on it.
  const fresh = await run(place, on, task)
  expect(textOf(fresh.bodies[0]).includes(harbor)).toBe(false)
  expect(textOf(fresh.bodies[1]).includes(`The release harbor is called ${harbor}.`)).toBe(true)
  expect(readFileSync(join(place.project, 'harbor.txt'), 'utf8')).toBe(`${harbor}\n`)

  // Of another project, the same home and task, it knows nothing.
  const other = { ...place, project: join(place.base, 'other') }
  await mkdir(other.project)
  const stranger = await run(other, on, task)
  expect(stranger.stdout).toContain('I do not know it')
  expect(textOf(stranger.bodies).includes(harbor)).toBe(false)
  expect(existsSync(join(other.project, 'harbor.txt'))).toBe(false)

  // Its person sees and forgets it, without a model.
  const listed = await run(place, on, '/memory')
  const id = /^(\w{8}) \(project; .*\): The release harbor/m.exec(listed.stdout)?.[1] ?? ''
  expect((await run(place, on, `/memory forget ${id}`)).stdout).toContain('cordage sessions delete')
  expect(readFileSync(join(place.home, 'memories.db'), 'latin1')).not.toContain(harbor)
  expect(peer.requests).toEqual([])
})
