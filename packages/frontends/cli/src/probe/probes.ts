import { newId, textMessage, toolCallsOf, type Message } from '@cordage/core/message'
import { modelError, type ModelInfo } from '@cordage/core/model'
import { cliError } from '../commands/errors.ts'
import { oneLine } from '../print/table.ts'
import { exchange, type Probing } from './exchange.ts'
import { RED_SQUARE } from './image.ts'

/** What a probe found where nothing failed. */
export interface Found {
  /** `partial`: it works, but not as well as it should; `skipped`: there was nothing to try. */
  readonly state: 'ok' | 'partial' | 'skipped'
  readonly detail: string
}

type Probe = (probing: Probing, info: ModelInfo) => Promise<Found>

/** What a server says that is there and takes the key, but has no list of its models. */
const NO_LIST = ['INVALID_REQUEST', 'UNKNOWN_MODEL', 'MALFORMED_RESPONSE']

export function hasNoList(code: string): boolean {
  return NO_LIST.includes(code)
}

/** Each costs one short request, `tools` two and `list` none that is charged for. */
export const probes = {
  list: probeList,
  text: probeText,
  stream: probeStream,
  tools: probeTools,
  reasoning: probeReasoning,
  images: probeImages,
} satisfies Record<string, Probe>

export type ProbeName = keyof typeof probes

async function probeList({ route, model, signal }: Probing): Promise<Found> {
  const ids = await route.list(signal)
  if (model === '') return { state: 'ok', detail: `the server lists ${ids.length} models` }
  const there = ids.includes(model)
  const detail = `${ids.length} models, ${there ? 'this one among them' : 'not this one'}`
  return { state: there ? 'ok' : 'partial', detail }
}

/** One short question, which says more of a key than a list: that is public in some places. */
export async function probeText(probing: Probing): Promise<Found> {
  const { answer } = await exchange(probing, { messages: [user('Answer with the word: ready')] })
  return { state: 'ok', detail: JSON.stringify(oneLine(said(probing, answer), 60)) }
}

async function probeStream(probing: Probing): Promise<Found> {
  const messages = [user('Count from 1 to 20 in digits, with spaces between them.')]
  const { answer, pieces } = await exchange(probing, { messages })
  said(probing, answer)
  if (pieces > 1) return { state: 'ok', detail: `came in ${pieces} pieces` }
  return { state: 'partial', detail: 'the answer came whole: nothing shows while it is written' }
}

const WORD = 'marigold'
const tool = {
  name: 'read_word',
  description: 'Gives the word of the day.',
  parameters: {
    type: 'object',
    properties: { language: { type: 'string' } },
    required: ['language'],
  },
}

async function probeTools(probing: Probing): Promise<Found> {
  const text = 'Call read_word with the language "en", then answer with the word that it gives.'
  const tools = [tool]
  const asked = [user(text)]
  const called = await exchange(probing, { messages: asked, tools })
  const [call] = toolCallsOf(called.message)
  if (call?.name !== tool.name) throw wrong(probing, 'it called no tool when it was asked to')
  if (!isObject(call.arguments)) throw wrong(probing, 'the arguments of its call are no object')
  const content = [{ type: 'text', text: WORD }] as const
  const { id: callId, name } = call
  const result: Message = {
    id: newId(),
    role: 'tool',
    content: [{ type: 'tool-result', callId, name, content, isError: false }],
    source: { kind: 'tool', callId },
  }
  const { answer } = await exchange(probing, {
    messages: [...asked, called.message, result],
    tools,
  })
  const told = said(probing, answer).toLowerCase().includes(WORD)
  const detail = told ? 'it called one and used the result' : 'it called one, not using the result'
  return { state: told ? 'ok' : 'partial', detail }
}

async function probeReasoning(probing: Probing, { efforts = {} }: ModelInfo): Promise<Found> {
  const [effort] = Object.entries(efforts).find(([level, value]) => {
    return level !== 'off' && value !== null
  }) ?? [undefined]
  if (effort === undefined) return { state: 'skipped', detail: 'it declares no reasoning efforts' }
  const messages = [user('What is 17 times 23? Answer with the number.')]
  const { answer } = await exchange(probing, { messages, params: { effort } })
  said(probing, answer)
  const shown = answer.hasReasoning ? 'shown' : 'not shown'
  return { state: 'ok', detail: `took effort ${effort}; its reasoning is ${shown}` }
}

async function probeImages(probing: Probing, { input }: ModelInfo): Promise<Found> {
  if (!input.includes('image')) return { state: 'skipped', detail: 'it declares text alone' }
  const { blob, bytes: image } = RED_SQUARE
  const message: Message = {
    id: newId(),
    role: 'user',
    content: [
      { type: 'text', text: 'Which colour is this image? Answer with one English word.' },
      { type: 'image', blob },
    ],
    source: { kind: 'user' },
  }
  const { answer } = await exchange(probing, { messages: [message], image })
  const seen = said(probing, answer)
  if (!/\bred\b/i.test(seen)) throw wrong(probing, 'it did not see that an image is red')
  return { state: 'ok', detail: 'it saw the colour of an image' }
}

function user(text: string): Message {
  return textMessage(newId(), 'user', text, { kind: 'user' })
}

/** The words of an answer; throws where there are none. */
function said(probing: Probing, answer: { content: Message['content'] }): string {
  const { route, model } = probing
  const text = answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if (text.trim() === '') throw modelError('EMPTY_RESPONSE', { model: `${route.id}/${model}` })
  return text
}

function wrong({ route, model }: Probing, reason: string): Error {
  return cliError('PROBE_ANSWER_WRONG', { model: `${route.id}/${model}`, reason })
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    // Not JSON is the answer.
    return false
  }
}
