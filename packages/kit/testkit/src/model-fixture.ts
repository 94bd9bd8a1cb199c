import { HarnessError } from '@cordage/core/error'
import type { Message } from '@cordage/core/message'
import type { ModelProvider, ModelRequest } from '@cordage/core/model'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { ask, makeRequest, say } from './model-conversation.ts'
import { type ModelPeer, type PeerReply, startModelPeer, streamReply } from './model-peer.ts'
import { encodeAnswer, type WireAnswer, type WireApi } from './model-wire.ts'

export interface ModelUnderTest {
  readonly api: WireApi
  /** A provider `peer` that reaches the peer at `url`, with the key `secret-key-of-test`. */
  readonly provider: (url: string) => ModelProvider
  /** An id that the provider declares with images, and with the efforts `high` and `off`. */
  readonly model: string
  /** Reasoning goes back to the model that made it. */
  readonly replays: boolean
  /** Variables that the SDK reads by itself. */
  readonly environment: readonly string[]
}

/** A provider, the server it talks to, and what most cases do with them. */
export interface ModelFixture {
  readonly subject: ModelUnderTest
  readonly peer: ModelPeer
  readonly provider: ModelProvider
  request(...messages: Message[]): ModelRequest
  stream(answer: WireAnswer): PeerReply
  /** The error of a short request, which must fail. */
  failure(): Promise<HarnessError>
}

/** Starts the server before the tests of the current suite and stops it after them. */
export function useModel(subject: ModelUnderTest): ModelFixture {
  let peer: ModelPeer
  let provider: ModelProvider
  beforeAll(async () => {
    peer = await startModelPeer()
    provider = subject.provider(peer.url)
  })
  afterEach(() => peer.reset())
  afterAll(() => peer.close())

  const request = (...messages: Message[]) => makeRequest('peer', subject.model, messages)
  return {
    subject,
    get peer() {
      return peer
    },
    get provider() {
      return provider
    },
    request,
    stream: (answer) => streamReply(encodeAnswer(subject.api, answer)),
    failure: async () => {
      const asked = ask(provider, request(say.user('hi')))
      const error: unknown = await asked.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(HarnessError)
      return error as HarnessError
    },
  }
}
