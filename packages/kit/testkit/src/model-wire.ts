export type WireApi = 'openai-completions' | 'openai-responses' | 'anthropic-messages'

/** An answer, apart from the protocol that carries it. Lists are pieces as they are sent. */
export interface WireAnswer {
  readonly reasoning?: readonly string[]
  /** What makes the reasoning acceptable again: a signature, an encrypted item. */
  readonly replay?: string
  readonly text?: readonly string[]
  readonly calls?: readonly {
    readonly id: string
    readonly name: string
    readonly arguments: readonly string[]
  }[]
  readonly usage?: { input: number; cached: number; output: number }
  readonly finish?: 'stop' | 'tool-calls' | 'max-tokens'
}

/** The events of `answer` in the order in which servers of this protocol send them. */
export function encodeAnswer(api: WireApi, answer: WireAnswer): string[] {
  const full = {
    reasoning: [],
    replay: '',
    text: [],
    calls: [],
    usage: { input: 20, cached: 4, output: 7 },
    finish: answer.calls?.length ? ('tool-calls' as const) : ('stop' as const),
    ...answer,
  }
  if (api === 'openai-completions') return encodeChat(full)
  return api === 'openai-responses' ? encodeResponses(full) : encodeMessage(full)
}

/** The events of an answer up to the first one that carries `text`. */
export function encodeBeginning(api: WireApi, text: string): string[] {
  const events = encodeAnswer(api, { text: [text] })
  return events.slice(0, events.findIndex((event) => event.includes(text)) + 1)
}

/** An error object inside a stream that began with status 200. */
export function encodeError(api: WireApi, type: string, message: string): string[] {
  const error = { type, code: type, message }
  if (api === 'anthropic-messages') return [named('error', { error })]
  if (api === 'openai-responses') return [named('error', { code: type, message, param: null })]
  return [data({ error })]
}

type FullAnswer = Required<WireAnswer>

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}`
}

function named(event: string, value: object): string {
  return `event: ${event}\n${data({ type: event, ...value })}`
}

function encodeChat(answer: FullAnswer): string[] {
  const chunk = (delta: object, finish: string | null = null) =>
    data({
      id: 'c1',
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  const finishes = { stop: 'stop', 'tool-calls': 'tool_calls', 'max-tokens': 'length' }
  const { input, cached, output } = answer.usage
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    prompt_tokens_details: { cached_tokens: cached },
  }
  const calls = answer.calls.flatMap((call, index) => [
    chunk({
      tool_calls: [
        { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } },
      ],
    }),
    ...call.arguments.map((text) =>
      chunk({ tool_calls: [{ index, function: { arguments: text } }] }),
    ),
  ])
  return [
    chunk({ role: 'assistant', content: '' }),
    ...answer.reasoning.map((text) => chunk({ reasoning_content: text })),
    ...answer.text.map((text) => chunk({ content: text })),
    ...calls,
    chunk({}, finishes[answer.finish]),
    data({ id: 'c1', object: 'chat.completion.chunk', choices: [], usage }),
    'data: [DONE]',
  ]
}

function encodeResponses(answer: FullAnswer): string[] {
  const events = [named('response.created', { response: { id: 'r1', status: 'in_progress' } })]
  let at = 0
  if (answer.reasoning.length > 0) {
    const item = { type: 'reasoning', id: 'rs1', summary: [] }
    events.push(named('response.output_item.added', { output_index: at, item }))
    for (const delta of answer.reasoning) {
      const place = { output_index: at, summary_index: 0, item_id: 'rs1' }
      events.push(named('response.reasoning_summary_text.delta', { ...place, delta }))
    }
    const whole = { ...item, encrypted_content: answer.replay }
    events.push(named('response.output_item.done', { output_index: at, item: whole }))
    at += 1
  }
  for (const delta of answer.text) {
    events.push(named('response.output_text.delta', { output_index: at, content_index: 0, delta }))
  }
  for (const call of answer.calls) {
    at += 1
    const item = { type: 'function_call', id: `fc${at}`, call_id: call.id, name: call.name }
    events.push(
      named('response.output_item.added', { output_index: at, item: { ...item, arguments: '' } }),
    )
    for (const delta of call.arguments) {
      events.push(named('response.function_call_arguments.delta', { output_index: at, delta }))
    }
    const whole = { ...item, arguments: call.arguments.join('') }
    events.push(named('response.output_item.done', { output_index: at, item: whole }))
  }
  const { input, cached, output } = answer.usage
  const cut = answer.finish === 'max-tokens'
  const response = {
    id: 'r1',
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    usage: {
      input_tokens: input,
      output_tokens: output,
      input_tokens_details: { cached_tokens: cached },
    },
  }
  events.push(named(cut ? 'response.incomplete' : 'response.completed', { response }))
  return events
}

function encodeMessage(answer: FullAnswer): string[] {
  const { input, cached, output } = answer.usage
  const counts = { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: 1 }
  const events = [named('message_start', { message: { id: 'm1', content: [], usage: counts } })]
  let index = 0
  const block = (content_block: object, deltas: readonly object[]) => {
    events.push(named('content_block_start', { index, content_block }))
    for (const delta of deltas) events.push(named('content_block_delta', { index, delta }))
    events.push(named('content_block_stop', { index }))
    index += 1
  }
  if (answer.reasoning.length > 0) {
    block({ type: 'thinking', thinking: '' }, [
      ...answer.reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: answer.replay },
    ])
  }
  if (answer.text.length > 0) {
    const deltas = answer.text.map((text) => ({ type: 'text_delta', text }))
    block({ type: 'text', text: '' }, deltas)
  }
  for (const { id, name, arguments: pieces } of answer.calls) {
    const deltas = pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
    block({ type: 'tool_use', id, name, input: {} }, deltas)
  }
  const finishes = { stop: 'end_turn', 'tool-calls': 'tool_use', 'max-tokens': 'max_tokens' }
  const delta = { stop_reason: finishes[answer.finish] }
  events.push(named('message_delta', { delta, usage: { output_tokens: output } }))
  events.push(named('message_stop', {}))
  return events
}
