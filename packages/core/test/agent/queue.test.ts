import { queueChange } from '@cordage/core/agent'
import { textMessage, textOf } from '@cordage/core/message'
import { inboxSplice, type InboxState } from '@cordage/core/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import commands from '../../src/command/index.ts'
import { bench, say, type Bench } from '../loop/boot.ts'

const { signal } = new AbortController()
const words = (inbox: InboxState) => inbox.map(({ message }) => textOf(message))

/** What the inbox is after the fact, if there is one. */
function after(inbox: InboxState, request: string): InboxState {
  const change = queueChange(inbox, request)
  const place = { seq: 0, time: 0 }
  return change
    ? (inboxSplice.reduce(inbox, { ...place, ...change } as never) as InboxState)
    : inbox
}

function inboxOf(texts: readonly string[]): InboxState {
  return texts.map((text, at) => {
    const message = textMessage(`01K${at}`, 'user', text, { kind: 'user' })
    return { queue: 'next-turn', message }
  })
}

describe('/queue', () => {
  let made: Bench
  const queue = async (request = '') => {
    const said = await made.root.commands.run(`/queue ${request}`, made.agent, signal)
    return said?.text?.replaceAll(/\b01[0-9A-Z]{24}\b/g, '<id>')
  }
  beforeEach(async () => {
    made = await bench([say('1'), say('2'), say('3')], { rows: [{ plugin: commands }] })
  })
  afterEach(() => made.close())

  it('shows, edits, moves and removes what waits, asks no model, and outlives a restart', async () => {
    expect(await queue()).toBe('Nothing waits.')
    for (const text of ['第一', 'b\n b', 'c', 'd']) await made.agent.send(text, { wake: false })
    await queue('edit 2 二 ／ two\nlines')
    await queue('move 4 1')
    expect(await queue('remove 4')).toBe(
      '1  <id>  next turn  d\n2  <id>  next turn  第一\n3  <id>  next turn  二 ／ two lines',
    )
    const { id } = made.session
    await made.agent.close()
    const session = await made.root.sessions.open(id)
    expect(words(session.inbox)).toEqual(['d', '第一', '二 ／ two\nlines'])
    expect(made.requests).toEqual([])
    const { choice, authority } = made.agent
    const agent = await made.root.agents.spawn({ session, choice, authority })
    await agent.wake()
    await agent.idle()
    const told = session.surface.flatMap(({ message }) =>
      message.source.kind === 'user' ? [textOf(message)] : [],
    )
    expect(told).toEqual(['d', '第一', '二 ／ two\nlines'])
    await agent.close()
  })

  it('leaves the images of a message that gets other words', async () => {
    const blob = { hash: 'a'.repeat(64), bytes: 1, mediaType: 'image/png' }
    const image = { type: 'image' as const, blob }
    const words = textMessage('m1', 'user', 'old', { kind: 'user' })
    const message = { ...words, content: [...words.content, image] }
    const inserted = [{ queue: 'next-turn' as const, message }]
    await made.session.append([inboxSplice({ inserted, cause: 'send' })])
    expect(await queue('edit 1 new')).toBe('1  m1  next turn  new')
    expect(made.session.inbox[0]?.message.content).toEqual([{ type: 'text', text: 'new' }, image])
    await queue('remove m1')
  })

  it('shows why something is held, and releases it', async () => {
    const { id } = await made.agent.send('a secret', { wake: false })
    await made.session.append([inboxSplice({ held: [{ id, reason: 'it is one' }], cause: 'hold' })])
    expect(await queue('list')).toBe('1  <id>  next turn  a secret  held: it is one')
    expect(await queue(`release ${id}`)).toBe('1  <id>  next turn  a secret')
  })

  it.each([
    ['frob 1', 'QUEUE_REQUEST'],
    ['constructor 1', 'QUEUE_REQUEST'],
    ['list 1', 'QUEUE_REQUEST'],
    ['remove', 'QUEUE_REQUEST'],
    ['move 1', 'QUEUE_REQUEST'],
    ['move 1 1 1', 'QUEUE_REQUEST'],
    ['move 1 2', 'QUEUE_PLACE'],
    ['remove 1 0', 'QUEUE_PLACE'],
    ['remove -1', 'QUEUE_PLACE'],
    ['edit 1', 'MESSAGE_EMPTY'],
  ])('refuses %j with %s and changes nothing', async (request, code) => {
    await made.agent.send('a', { wake: false })
    const before = await made.facts()
    await expect(queue(request)).rejects.toMatchObject({ code })
    expect(await made.facts()).toEqual(before)
  })
})

it('moving and removing do what they do to a list, by places and by ids', () => {
  const place = fc.nat(5)
  const texts = ['a', 'b', 'c', 'd', 'e', 'f']
  fc.assert(
    fc.property(place, place, fc.boolean(), (from, to, byId) => {
      const inbox = inboxOf(texts)
      const name = (at: number) => (byId ? `01K${at}` : `${at + 1}`)
      const rest = texts.filter((_, at) => at !== from)
      expect(words(after(inbox, `move ${name(from)} ${name(to)}`))).toEqual(
        rest.toSpliced(to, 0, texts[from]!),
      )
      expect(words(after(inbox, `remove ${name(from)}`))).toEqual(rest)
    }),
  )
})
