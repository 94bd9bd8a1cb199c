export { storeContract } from './store-contract.ts'
export { codeOf, factAt, factsFrom, headerFor, readAll } from './store-fixture.ts'
export type { StoreUnderTest } from './store-fixture.ts'
export * from './simulation/index.ts'
export * from './tool-run.ts'
export { modelContract } from './model-contract.ts'
export { ask, makeRequest, say } from './model-conversation.ts'
export { refusals } from './model-refusals.ts'
export { retryWishes, statuses } from './model-statuses.ts'
export { oddityGroups } from './model-oddities.ts'
export { resultOf, type Oddity, type OddityGroup } from './model-oddity.ts'
export type { ModelUnderTest } from './model-fixture.ts'
export { plainReply, rawReply, startModelPeer, streamReply } from './model-peer.ts'
export type { ModelPeer, PeerReply, PeerRequest, StreamReplyOptions } from './model-peer.ts'
export {
  encodeAnswer,
  encodeBeginning,
  encodeError,
  type WireAnswer,
  type WireApi,
} from './model-wire.ts'
export { coreRows, openRowBench, rowsNeededBy } from './core-rows.ts'
export type { BenchRow, RowBench } from './core-rows.ts'
export { frontendContract } from './frontend-contract.ts'
export type { FrontendUnderTest } from './frontend-contract.ts'
export { pluginContract } from './plugin-contract.ts'
export type { PluginUnderTest } from './plugin-contract.ts'
export { policyContract } from './policy-contract.ts'
export type { PolicyUnderTest } from './policy-contract.ts'
export { toolContract } from './tool-contract.ts'
export type { ToolsUnderTest } from './tool-contract.ts'
