import type { WireApi } from './model-wire.ts'

/** A call as a server sends it; every member may be missing or of another type. */
export interface CallFrame {
  readonly place?: unknown
  readonly id?: unknown
  readonly name?: unknown
  readonly arguments?: unknown
}

/** The events of one protocol, one by one, for answers that no careful server would send. */
export interface Frames {
  readonly begin: readonly string[]
  text(text: string): string[]
  thought(text: string): string[]
  /** The first that is heard of a call. */
  openCall(call: CallFrame): string[]
  /** More of its arguments. */
  callPiece(call: CallFrame): string[]
  /** The whole call, after its pieces. */
  closeCall(call: CallFrame): string[]
  /** `word` is the protocol's own; usage is in its own members. */
  end(word: unknown, usage?: unknown): string[]
}

/** An event of server-sent events; members that are `undefined` are left out. */
export function frame(value: unknown, name?: string): string {
  const data = `data: ${JSON.stringify(value)}`
  return name === undefined ? data : `event: ${name}\n${data}`
}

export function framesOf(api: WireApi): Frames {
  if (api === 'openai-completions') return chat
  return api === 'openai-responses' ? responses : messages
}

function chunk(delta: unknown, finish: unknown = null): string {
  return frame({ id: 'c1', choices: [{ index: 0, delta, finish_reason: finish }] })
}

function chatCall({ place, id, name, arguments: text }: CallFrame): string[] {
  return [chunk({ tool_calls: [{ index: place, id, function: { name, arguments: text } }] })]
}

const chat: Frames = {
  begin: [chunk({ role: 'assistant', content: '' })],
  text: (text) => [chunk({ content: text })],
  thought: (text) => [chunk({ reasoning_content: text })],
  openCall: chatCall,
  callPiece: chatCall,
  closeCall: () => [],
  end: (word, usage) => [
    chunk({}, word),
    ...(usage === undefined ? [] : [frame({ choices: [], usage })]),
    'data: [DONE]',
  ],
}

function typed(type: string, members: object): string {
  return frame({ type, ...members }, type)
}

function item({ id, name, arguments: text }: CallFrame) {
  return { type: 'function_call', id: 'fc', call_id: id, name, arguments: text }
}

const responses: Frames = {
  begin: [typed('response.created', { response: { id: 'r1', status: 'in_progress' } })],
  text: (delta) => [typed('response.output_text.delta', { output_index: 0, delta })],
  thought: (delta) => [
    typed('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta }),
  ],
  openCall: (call) => {
    const opened = item({ arguments: '', ...call })
    return [typed('response.output_item.added', { output_index: call.place, item: opened })]
  },
  callPiece: ({ place, arguments: delta }) => [
    typed('response.function_call_arguments.delta', { output_index: place, delta }),
  ],
  closeCall: (call) => [
    typed('response.output_item.done', { output_index: call.place, item: item(call) }),
  ],
  end: (word, usage) => {
    const cut = word !== 'completed'
    const response = {
      id: 'r1',
      status: cut ? 'incomplete' : 'completed',
      incomplete_details: cut ? { reason: word } : null,
      usage,
    }
    return [typed(cut ? 'response.incomplete' : 'response.completed', { response })]
  },
}

const messages: Frames = {
  begin: [typed('message_start', { message: { id: 'm1', content: [] } })],
  text: (text) => [
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  ],
  thought: (thinking) => [
    typed('content_block_start', { index: 0, content_block: { type: 'thinking', thinking: '' } }),
    typed('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking } }),
  ],
  openCall: ({ place, id, name, arguments: input = {} }) => {
    const block = { type: 'tool_use', id, name, input }
    return [typed('content_block_start', { index: place, content_block: block })]
  },
  callPiece: ({ place, arguments: partial_json }) => {
    const delta = { type: 'input_json_delta', partial_json }
    return [typed('content_block_delta', { index: place, delta })]
  },
  closeCall: ({ place }) => [typed('content_block_stop', { index: place })],
  end: (word, usage) => [
    typed('message_delta', { delta: { stop_reason: word }, usage }),
    typed('message_stop', {}),
  ],
}

/** The word with which a protocol ends an answer that is whole. */
export function wordOf(api: WireApi, ending: 'stop' | 'tool-calls'): string {
  if (api === 'openai-responses') return 'completed'
  if (api === 'openai-completions') return ending === 'stop' ? 'stop' : 'tool_calls'
  return ending === 'stop' ? 'end_turn' : 'tool_use'
}
