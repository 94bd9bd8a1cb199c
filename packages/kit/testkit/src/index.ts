export { storeContract } from './store-contract.ts'
export { codeOf, factAt, factsFrom, headerFor, readAll } from './store-fixture.ts'
export type { StoreUnderTest } from './store-fixture.ts'
export * from './tool-run.ts'
export { modelContract } from './model-contract.ts'
export { ask, makeRequest, say } from './model-conversation.ts'
export type { ModelUnderTest } from './model-fixture.ts'
export { plainReply, startModelPeer, streamReply } from './model-peer.ts'
export type { ModelPeer, PeerReply, PeerRequest, StreamReplyOptions } from './model-peer.ts'
export {
  encodeAnswer,
  encodeBeginning,
  encodeError,
  type WireAnswer,
  type WireApi,
} from './model-wire.ts'
