import type { AnyPlugin } from '@cordage/core/kernel'
import { attemptStart, requestHeader } from '@cordage/core/session'
import { encodeAnswer, startModelPeer, streamReply, type WireApi } from '@cordage/testkit'
import { expect, it } from 'vitest'
import { bench } from '../../../core/test/loop/boot.ts'
import anthropic from '../../anthropic/src/index.ts'
import openai from '../src/index.ts'

it.each([
  ['openai-completions', openai, '/v1', '/v1/chat/completions'],
  ['openai-responses', openai, '/v1/', '/v1/responses'],
  ['anthropic-messages', anthropic, '/gateway', '/gateway/v1/messages'],
] as [WireApi, AnyPlugin, string, string][])(
  'the log of requests over %s has the joined URL, the provider and the model',
  async (api, plugin, base, path) => {
    const peer = await startModelPeer()
    peer.reply(streamReply(encodeAnswer(api, { text: ['Hi'] })))
    const route = { displayName: 'Team', api, baseURL: `${peer.url}${base}` }
    const made = await bench([], {
      rows: [{ plugin, config: { providers: { team: route } } }],
      choice: { model: 'team/acme/new:7b' },
    })
    await made.agent.send('hi', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'completed' })
    const facts = await made.facts()
    expect(facts.find((fact) => attemptStart.is(fact))?.data).toMatchObject({
      url: `${peer.url}${path}`,
    })
    expect(facts.find((fact) => requestHeader.is(fact))?.data).toMatchObject({
      provider: 'team',
      model: 'acme/new:7b',
    })
    expect(peer.requests.map((request) => request.path)).toEqual([path])
    await made.close()
    await peer.close()
  },
)
