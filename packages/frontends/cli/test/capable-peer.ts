import type { ModelPeer, PeerReply } from '../../../kit/testkit/src/model-peer.ts'
import { plainReply, startModelPeer, streamReply } from '../../../kit/testkit/src/model-peer.ts'
import { encodeAnswer, type WireAnswer, type WireApi } from '../../../kit/testkit/src/model-wire.ts'

/** What such a model would answer to a probe, found by the words of the request. */
export function capableAnswer(text: string): WireAnswer {
  if (text.includes('marigold')) return { text: ['It is ', 'marigold.'] }
  if (text.includes('read_word')) {
    return { calls: [{ id: 'call_1', name: 'read_word', arguments: ['{"language":', '"en"}'] }] }
  }
  if (text.includes('17 times 23')) return { reasoning: ['340 + 51'], text: ['391'] }
  if (text.includes('Which colour')) return { text: ['Red'] }
  if (isCount(text)) return { text: Array.from({ length: 20 }, (_, at) => `${at + 1} `) }
  return { text: ['ready'] }
}

const isCount = (text: string) => text.includes('Count from 1')

/** What is sent at once is read at once: then nothing shows that it was a stream. */
const paceOf = (text: string) => (isCount(text) ? { pauseMs: 5 } : {})

/** A reply as a model gives it that can do all that is probed; `id` is the one that it lists. */
export function capableReply(api: WireApi, id: string): PeerReply {
  return (response, request) => {
    const reply =
      request.method === 'GET'
        ? plainReply(200, { data: [{ id }] })
        : streamReply(encodeAnswer(api, capableAnswer(request.text)), paceOf(request.text))
    return reply(response, request)
  }
}

export async function startCapablePeer(api: WireApi, id: string): Promise<ModelPeer> {
  const peer = await startModelPeer()
  peer.reply(capableReply(api, id))
  return peer
}
