import { afterEach, describe, expect, it } from 'vitest'
import { definePlugin } from '@cordage/core/kernel'
import type { ModelProvider } from '@cordage/core/model'
import { requestMismatch, type Fact } from '@cordage/core/session'
import { LiveSession, systemClock } from '@cordage/core/store'
import { z } from 'zod'
import {
  bench,
  call,
  say,
  type Bench,
  type BenchOptions,
  type Reply,
} from '../../../core/test/loop/boot.ts'
import { FaultyLog, header } from '../../../core/test/store/faulty-log.ts'
import rebuild from '../src/index.ts'
import { LoggedView } from '../src/logged-view.ts'

let made: Bench | undefined
afterEach(async () => made?.close())

const turns = 9

/** Some turns, each with a tool call, of which the last ones continue a longer and longer history. */
async function converse(options: BenchOptions = {}) {
  const replies: Reply[] = Array.from({ length: turns }, (_, at) => [
    call({ id: `c${at}`, name: 'look', arguments: '{"at":"购物车 🛒"}' }),
    say(`Done ${at}.`),
  ]).flat()
  made = await bench(replies, {
    ...options,
    rows: [{ plugin: rebuild }, ...(options.rows ?? [])],
    tools: (add) =>
      add({
        name: 'look',
        description: 'Looks.',
        parameters: z.strictObject({ at: z.string() }),
        effects: () => [],
        execute: async ({ at }) => ({ at, '1': [null, 0.1] }),
      }),
  })
  for (let turn = 1; turn <= turns; turn++) {
    await made.agent.send(`Turn ${turn}`, { wake: false })
    await made.agent.wake()
  }
  return (await made.facts()).filter((fact) => requestMismatch.is(fact))
}

/** A log that keeps other words than it was given. */
class LyingLog extends FaultyLog {
  override append(facts: readonly Fact[], options: Parameters<FaultyLog['append']>[1]) {
    const kept = facts.map((fact) => {
      return JSON.parse(JSON.stringify(fact).replace('Turn 3', 'Turn 4')) as Fact
    })
    return super.append(kept, options)
  }
}

describe('policy-rebuild', () => {
  it('finds nothing to say of a conversation that the log gives', async () => {
    expect(await converse()).toEqual([])
    expect(made?.logged).toEqual([])
    expect(made?.requests).toHaveLength(2 * turns)
  })

  it('says which request the log on the disk does not give', async () => {
    const found = await converse({
      async session(root) {
        const log = new LyingLog(await root.store.create(header))
        return LiveSession.open(log, { clock: systemClock, lookup: () => undefined })
      },
    })
    // Turn 3 begins with request 5; the sixteenth is the next one that is read back.
    const reason = 'the log on the disk gives another body'
    expect(found[0]?.data).toEqual({ turn: 8, step: 2, attempt: 1, reason })
    expect(made?.logged.join()).toContain('a request cannot be rebuilt from the log')
  })

  it('finds an adapter whose body does not depend on the request alone', async () => {
    let made = 0
    const hidden = definePlugin({
      name: 'hidden-state',
      inject: ['models'],
      apply(ctx) {
        const original = ctx.models.resolve('test/model').route as ModelProvider
        const body = original.body.bind(original)
        original.body = async (request) => ({ ...((await body(request)) as object), made: made++ })
      },
    })
    const found = await converse({ rows: [{ plugin: hidden }] })
    expect(found.map(({ data }) => (data as { turn: number }).turn)).toContain(1)
  })
})

describe('what is new of a request', () => {
  it('is compared with the facts, whatever was equal before', async () => {
    await converse()
    const { session, requests } = made as Bench
    const last = requests.at(-1)
    if (!last) throw new Error('nothing was requested')
    // The answer to the last request is on the surface by now.
    const view = new LoggedView({
      ...session,
      surface: session.surface.slice(0, -1),
      requestHeader: session.requestHeader,
    })
    expect(view.compare(last)).toBeUndefined()
    const at = last.messages.length - 1
    const other = { message: { ...last.messages[at]?.message, id: 'another' } }
    expect(
      view.compare({ ...last, messages: [...last.messages.slice(0, at), other as never] }),
    ).toBe(`its message ${at + 1} is not the logged one`)
    expect(view.compare({ ...last, messages: last.messages.slice(1) })).toBe(
      `it has ${at} messages where the log gives ${at + 1}`,
    )
    expect(view.compare({ ...last, params: { maxTokens: 7 } })).toBe(
      'its params is not the logged one',
    )
    expect(view.compare({ ...last, tools: [] })).toBe('its tools is not the logged one')
  })
})
