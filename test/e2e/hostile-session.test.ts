import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePlace, type Place } from './fixture/place.ts'
import { runCli } from './fixture/warm-cli.ts'

let place: Place
beforeEach(async () => {
  place = await makePlace('empty')
})
afterEach(() => place[Symbol.asyncDispose]())

const sessions = (...args: string[]) => runCli(place, ['sessions', ...args])

const id = '01M8QGZMJYPJPS0GXE4PD9VB00'
const evil =
  'A\u001B[31mRED\u001B]0;owned\u0007\u202Ertl\u2066\u0000</script><script>alert(1)</script>' +
  '<img src=x onerror=alert(1)>\uD800\u009B2J\u0085\r\u2028```\n# heading'
// oxlint-disable-next-line no-control-regex
const driving = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/

/** An export whose every text was written by somebody who means harm. */
function hostileExport(): { text: string; facts: object[] } {
  const header = { project: `/p/${evil}`, depth: 0, format: 1, id, createdAt: 1_796_085_895_774 }
  const at = { turn: 1, step: 1 }
  const said = { id: 'm1', role: 'user', content: [{ type: 'text', text: evil }] }
  const call = { type: 'tool-call', id: evil, name: evil, arguments: evil }
  const source = { kind: 'model', provider: evil, model: evil }
  const answer = { ...said, id: 'm2', role: 'assistant', content: [...said.content, call], source }
  const part = {
    type: 'tool-result',
    callId: evil,
    name: evil,
    content: said.content,
    isError: true,
  }
  const tool = { name: evil, description: evil, parameters: { type: 'object' } }
  const origin = [{ part: `tool: ${evil}`, row: evil, tokens: 1 }]
  const usage = { inputTokens: 1, outputTokens: 1 }
  const datas: [type: string, data: object][] = [
    ['session/title', { title: evil, by: 'user' }],
    ['turn/start', { turn: 1 }],
    ['step/start', at],
    ['user/message', { message: { ...said, source: { kind: 'user' } } }],
    [
      'request/header',
      { provider: evil, model: evil, params: {}, tools: [tool], reason: 'initial', origin },
    ],
    ['attempt/start', { ...at, attempt: 1, digest: evil }],
    ['assistant/message', { ...at, attempt: 1, message: answer, finish: 'tool-calls', usage }],
    ['tool/call', { ...at, callId: evil, name: evil, arguments: evil }],
    ['tool/result', { ...at, callId: evil, name: evil, messageId: 'm3', part }],
    [`x/${evil}`, { any: evil }],
    ['step/end', at],
    ['turn/end', { turn: 1, reason: 'completed' }],
  ]
  const facts = datas.map(([type, data], seq) => ({ seq, time: seq, type, v: 1, data }))
  const end = { end: { facts: facts.length, blobs: 0 } }
  const lines = [{ cordage: 'session', format: 1, header }, ...facts, end]
  return { text: `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`, facts }
}

describe('what a stranger wrote into a session', () => {
  it('drives no terminal and no page, whatever prints it, and comes out as it was', async () => {
    const { text, facts } = hostileExport()
    const file = join(place.base, 'evil.jsonl')
    await writeFile(file, text)
    expect(await sessions('import', file)).toMatchObject({ code: 0 })
    for (const args of [
      ['list'],
      ['list', '--output', 'json'],
      ['show', id],
      ['show', id, '--output', 'json'],
      ['show', id, '--request', '1'],
      ['show', id, '--request', '1', '--output', 'json'],
      ['search', 'RED', '--output', 'json'],
      ['usage', id],
      ['usage', id, '--output', 'json'],
      ['export', id],
      ['export', id, '--format', 'markdown'],
      ['export', id, '--format', 'html'],
    ]) {
      const { code, stdout, stderr } = await sessions(...args)
      expect({ args, code, found: driving.exec(stdout + stderr)?.[0] }).toEqual({ args, code: 0 })
      expect(stdout).toContain('RED')
      if (args.includes('html')) expect(stdout).not.toMatch(/<script|<img src=x/)
    }
    const shown = JSON.parse((await sessions('show', id, '--output', 'json')).stdout) as object
    expect(shown).toMatchObject({ facts })
    const out = await sessions('export', id)
    expect(out.stdout.split('\n').map(parsed)).toEqual(text.split('\n').map(parsed))
  })
})

function parsed(line: string): unknown {
  return line === '' ? '' : JSON.parse(line)
}

describe('an id that is empty', () => {
  it('names no session, not even the only one', async () => {
    const file = join(place.base, 'evil.jsonl')
    await writeFile(file, hostileExport().text)
    await sessions('import', file)
    for (const verb of ['delete', 'archive', 'pack', 'show']) {
      const { code, stderr } = await sessions(verb, '')
      expect({ verb, code, stderr }).toEqual({
        verb,
        code: 2,
        stderr: expect.stringContaining('empty'),
      })
    }
    expect(JSON.parse((await sessions('list', '--output', 'json')).stdout)).toHaveLength(1)
  })
})
