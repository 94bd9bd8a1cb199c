/**
 * Names of the GenAI semantic conventions of OpenTelemetry, as version 1.45 of the package
 * `@opentelemetry/semantic-conventions` has them. They are copied because that package calls them
 * unstable; `cordage.*` are those that the conventions have no name for.
 */
export const names = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agent: 'gen_ai.agent.name',
  requestModel: 'gen_ai.request.model',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestTemperature: 'gen_ai.request.temperature',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  turn: 'cordage.turn',
  turnReason: 'cordage.turn.reason',
  step: 'cordage.step',
  attempt: 'cordage.attempt',
  source: 'cordage.source',
  unfinished: 'cordage.unfinished',
} as const

/** What the conventions have in `error.type` for an error without a code of its own. */
export const OTHER_ERROR = '_OTHER'
/** In the place of a tool that the model made up: what it wrote is content. */
export const UNKNOWN_TOOL = 'unknown'
