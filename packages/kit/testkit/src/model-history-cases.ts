import { type ContentPart, type Message, toolCallsOf } from '@cordage/core/message'
import { expect, test } from 'vitest'
import { ask, makeRequest, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'

const blob = { hash: 'h', bytes: 3, mediaType: 'image/png' }
const call = (id: string, name = 'weather'): ContentPart => {
  return { type: 'tool-call', id, name, arguments: '{}' }
}

/** Lists of a body that grow with the history. */
function listsOf(body: unknown): unknown[][] {
  return Object.values(body as object).filter((value) => Array.isArray(value))
}

/** What is sent of earlier steps, and of what other routes left. */
export function historyCases(on: ModelFixture): void {
  const steps = (): Message[] => [
    say.system('Be kind.'),
    say.user('look', { type: 'image', blob }),
    say.assistant('peer', on.subject.model, [{ type: 'text', text: 'ok' }, call('a'), call('b')]),
    say.tool('a', 'weather', [{ type: 'text', text: 'warm' }]),
    say.tool('b', 'weather', [{ type: 'image', blob }]),
    say.assistant('other', 'm', [call('c:1'), call('c/1')]),
    say.tool('c:1', 'weather', []),
    say.tool('c/1', 'weather', []),
  ]

  test('makes nothing of a history a second time that was in a body before', async () => {
    let read = 0
    const getBlob = async () => {
      read += 1
      return new Uint8Array([1, 2, 3])
    }
    const tools = on.request().tools
    const bodyOf = (messages: Message[]) => {
      const more = { tools, getBlob }
      return on.provider.body(makeRequest('peer', on.subject.model, messages, more))
    }
    const history = steps()
    const before = listsOf(await bodyOf(history))
    const once = read
    const after = listsOf(await bodyOf([...history, say.user('and now?')]))
    expect(once).toBe(2)
    expect(read).toBe(once)
    for (const [at, list] of before.entries()) {
      const same = list.filter((member, place) => after[at]?.[place] === member)
      const frozen = list.filter((member) => Object.isFrozen(member))
      // The system prompt of Messages is a list of its own, which nobody adds to.
      if (JSON.stringify(list).includes('Be kind.') && list.length === 1) continue
      expect(same).toHaveLength(list.length)
      expect(frozen).toHaveLength(list.length)
    }
  })

  test('makes the same body whether or not it made one before', async () => {
    const history = steps()
    const fresh = on.subject.provider(on.peer.url)
    const request = on.request(...history, say.user('x'))
    await on.provider.body(on.request(...history))
    expect(await on.provider.body(request)).toEqual(await fresh.body(request))
  })

  test('keeps ids of another route apart that are alike once they are fitted', async () => {
    const text = JSON.stringify(await on.provider.body(on.request(...steps())))
    const ids = [...text.matchAll(/"(?:tool_use_id|tool_call_id|call_id|id)":"([^"]+)"/g)]
    const counts = new Map<string, number>()
    for (const [, id = ''] of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
    expect([...counts.values()]).toEqual([2, 2, 2, 2])
  })
}

const odd = ['team.weather/now', 'w'.repeat(80), 'Wetter für heute', 'team_weather_now']

/** Names of tools that no server takes. */
export function nameCases(on: ModelFixture): void {
  test('gives tools names that servers take, and their own back', async () => {
    const tools = odd.map((name) => ({ name, description: 'x', parameters: { type: 'object' } }))
    const request = makeRequest('peer', on.subject.model, [say.user('hi')], { tools })
    const body = JSON.stringify(await on.provider.body(request))
    const sent = [...body.matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name)
    expect(new Set(sent).size).toBe(odd.length)
    for (const name of sent) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    on.peer.reply(
      on.stream({ calls: sent.map((name, at) => ({ id: `c${at}`, name, arguments: ['{}'] })) }),
    )
    expect(toolCallsOf(await ask(on.provider, request)).map(({ name }) => name)).toEqual(odd)
  })

  test('sends a name back that a model made up, as one that servers take', async () => {
    const answer = say.assistant('peer', on.subject.model, [call('a', 'made up!')])
    const history = [say.user('hi'), answer, say.tool('a', 'made up!', [])]
    const body = JSON.stringify(await on.provider.body(on.request(...history)))
    expect(body).not.toContain('made up!')
    expect(body).toMatch(/"name":"made_up__[0-9a-f]{8}"/)
  })
}
