import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ServerResponse } from 'node:http'
import anthropic from '../../../models/anthropic/src/index.ts'
import openai from '../../../models/openai/src/index.ts'
import { simulatedClock } from '../../../kit/testkit/src/simulation/clock.ts'
import { framesOf } from '../../../kit/testkit/src/model-frames.ts'
import { startModelPeer, type ModelPeer } from '../../../kit/testkit/src/model-peer.ts'
import type { WireApi } from '../../../kit/testkit/src/model-wire.ts'
import { bench, type Bench } from './boot.ts'

const MINUTE_MS = 60_000
const IDLE_MINUTES = 5
const TOTAL_MINUTES = 30

let peer: ModelPeer
let made: Bench
const clock = simulatedClock()
beforeEach(async () => {
  peer = await startModelPeer()
})
afterEach(async () => {
  await made.close()
  await peer.close()
})

/** A turn that asks the server over HTTP; gives the reply that has begun. */
async function begin(api: WireApi) {
  const [plugin, baseURL] =
    api === 'anthropic-messages' ? [anthropic, peer.url] : [openai, `${peer.url}/v1`]
  const route = { displayName: 'Peer', api, baseURL, models: [{ id: 'm' }] }
  made = await bench([], {
    clock,
    rows: [{ plugin, config: { providers: { peer: route } } }],
    choice: { model: 'peer/m' },
    loop: {
      streamIdleTimeoutMs: IDLE_MINUTES * MINUTE_MS,
      streamTotalTimeoutMs: TOTAL_MINUTES * MINUTE_MS,
    },
  })
  const begun = Promise.withResolvers<ServerResponse>()
  peer.reply((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    begun.resolve(response)
  })
  await made.agent.send('go', { wake: false })
  const turn = made.agent.wake()
  return { turn, response: await begun.promise }
}

const bytes = (lines: readonly string[]) => lines.map((line) => `${line}\n\n`).join('')

/** Sends a piece at the beginning of each minute until all minutes are over. */
async function drip(pieces: Iterable<string>, send: (piece: string) => unknown): Promise<void> {
  const all = [...pieces]
  for (let minute = 0; minute < TOTAL_MINUTES; minute += 1) {
    await send(all[minute % all.length]!)
    clock.advance(MINUTE_MS)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.each<WireApi>(['openai-completions', 'openai-responses', 'anthropic-messages'])(
  'a server of %s that gives one byte a minute',
  (api) => {
    const timedOut = (why: string) => {
      const error = { code: 'TIMEOUT', message: expect.stringContaining(why) }
      return { reason: 'error', error }
    }

    it.each([
      ['of comments', ': keep alive, keep alive\n\n'],
      ['of one event', bytes(framesOf(api).text('that is longer than half an hour'))],
    ])('%s is silent, and the deadline of silence ends it', async (_, text) => {
      const { turn, response } = await begin(api)
      await drip(text, (byte) => response.write(byte))
      expect(await turn).toMatchObject(timedOut('nothing came'))
      await peer.requests[0]?.closed
    })

    it('of an answer says something each time, and the deadline of the whole ends it', async () => {
      const { turn, response } = await begin(api)
      let heard: () => void = () => {}
      made.session.watch(made.root, (update) => void (update.kind === 'delta' && heard()))
      const frames = framesOf(api)
      response.write(bytes(frames.begin))
      await drip([bytes(frames.text('.'))], async (event) => {
        const news = new Promise<void>((resolve) => (heard = resolve))
        response.write(event)
        await news
      })
      expect(await turn).toMatchObject(timedOut('no end came'))
      const failed = (await made.facts()).find(({ type }) => type === 'attempt/failed')
      expect(failed?.data).toMatchObject({ partial: '.'.repeat(TOTAL_MINUTES) })
      await peer.requests[0]?.closed
    })
  },
)
