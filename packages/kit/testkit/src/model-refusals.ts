/** Words of servers that say more than their status. */
export const refusals: readonly {
  readonly status: number
  readonly says: string
  readonly code: string
}[] = [
  { status: 404, says: 'The model gpt-9 does not exist', code: 'UNKNOWN_MODEL' },
  { status: 400, says: 'model `x` is not supported', code: 'UNKNOWN_MODEL' },
  { status: 400, says: 'Model Not Exist', code: 'UNKNOWN_MODEL' },
  {
    status: 400,
    says: "This model's maximum context length is 4096 tokens",
    code: 'CONTEXT_WINDOW_EXCEEDED',
  },
  {
    status: 400,
    says: 'prompt is too long: 210000 tokens > 200000 maximum',
    code: 'CONTEXT_WINDOW_EXCEEDED',
  },
  {
    status: 400,
    says: 'input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000',
    code: 'CONTEXT_WINDOW_EXCEEDED',
  },
  {
    status: 400,
    says: 'Your input exceeds the context window of this model',
    code: 'CONTEXT_WINDOW_EXCEEDED',
  },
  { status: 400, says: '请求的上下文长度超过模型限制', code: 'CONTEXT_WINDOW_EXCEEDED' },
  {
    status: 500,
    says: 'the input is larger than the context size (8192)',
    code: 'CONTEXT_WINDOW_EXCEEDED',
  },
  { status: 413, says: 'Request Entity Too Large', code: 'CONTEXT_WINDOW_EXCEEDED' },
  { status: 400, says: 'flagged by the content filter', code: 'CONTENT_FILTERED' },
  { status: 403, says: 'blocked by the content policy', code: 'CONTENT_FILTERED' },
  { status: 400, says: 'invalid api key', code: 'AUTH' },
  { status: 400, says: 'Your credit balance is too low', code: 'QUOTA' },
  { status: 403, says: 'Insufficient balance', code: 'QUOTA' },
  { status: 429, says: 'You exceeded your current quota, insufficient_quota', code: 'QUOTA' },
  { status: 429, says: 'Rate limit reached: too many tokens per minute', code: 'RATE_LIMIT' },
  { status: 400, says: 'temperature must be between 0 and 2', code: 'INVALID_REQUEST' },
  { status: 422, says: 'field required', code: 'INVALID_REQUEST' },
]
