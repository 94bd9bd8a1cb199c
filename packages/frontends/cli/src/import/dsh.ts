import { turnEndReasons, type TurnEndReason } from '@cordage/core/session'
import type { Entry } from './entry.ts'
import { dshAnswer, dshSpoken, dshTexts, dshUsage } from './dsh-message.ts'
import type { LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import { isRecord, listIn, recordIn, textIn, timeIn, wordsIn, type Loose } from './loose.ts'

/** Whether the first line is the header of a session of DSH (log version 0). */
export function isDsh(value: Loose): boolean {
  return value['type'] === 'session' && typeof value['createdAt'] === 'number'
}

/** What our own facts say by themselves, or what is of no use to another harness. */
const silent = new Set(
  (
    'turn/start step/start step/end tool/call request/context ' +
    'compaction/start session/end-seed agent/inbox/spliced'
  ).split(' '),
)

/** Runs of streamed pieces, packed in one row. Each has an array of what they held. */
const packed = new Set(['text-chunks', 'reasoning-chunks', 'tool-call-chunks'])

/** A log of DSH: events much like our facts, streamed pieces among them. */
export async function* readDsh(path: string, left: LeftBehind): AsyncGenerator<Entry> {
  const pieces = new StreamedText()
  const summaries = new Map<string, Loose>()
  for await (const { number, value } of recordsOf(path, left)) {
    const type = textIn(value['type']) ?? ''
    if (type === 'session') {
      yield { kind: 'about', session: textIn(value['id']), cwd: textIn(value['cwd']) }
      continue
    }
    if (packed.has(type) || type === 'assistant/chunk') {
      pieces.add(type, value)
      continue
    }
    const data = recordIn(value['data'])
    const time = timeIn(value['time'])
    const mark = typeof value['seq'] === 'number' ? String(value['seq']) : undefined
    if (type === 'assistant/message') pieces.clear()
    if (type === 'turn/end') yield* pieces.entries(time, left)
    if (type === 'compaction/summary') summaries.set(wordsIn(data['compactionId']), value)
    else if (isReplacement(value)) {
      if (type !== 'user/message') left.add('results that were shortened', type)
    } else if (type === 'compaction/end') {
      yield* summaryEntries(summaries.get(wordsIn(data['compactionId'])), data, left)
    } else yield* entriesOf(type, data, { time, mark, number }, left)
  }
  yield* pieces.entries(undefined, left)
}

interface Place {
  readonly time: number | undefined
  readonly mark: string | undefined
  readonly number: number
}

function* entriesOf(type: string, data: Loose, place: Place, left: LeftBehind): Generator<Entry> {
  const { time, mark } = place
  const message = isRecord(data['message']) ? data['message'] : data
  switch (type) {
    case 'user/message': {
      const kind = textIn(recordIn(message['source'])['kind'])
      const form = kind === undefined || kind.startsWith('user') ? undefined : 'notice'
      const parts = dshSpoken(message['content'], left)
      return yield { kind: 'user', parts, form, joins: true, time, mark }
    }
    case 'assistant/message': {
      const source = recordIn(message['source'])
      if (source['replayState']) left.add('opaque state of routes', wordsIn(source['provider']))
      return yield {
        kind: 'answer',
        provider: textIn(source['provider']) ?? 'unknown',
        model: textIn(source['model']) ?? 'unknown',
        parts: dshAnswer(message['content'], left),
        usage: dshUsage(data['usage']),
        interrupted: data['interrupted'] === true ? true : undefined,
        time,
        mark,
      }
    }
    case 'tool/result': {
      const blocks = listIn(message['content']).map(recordIn)
      const block = blocks.find((one) => one['type'] === 'tool-result') ?? {}
      const callId = wordsIn(block['toolCallId'] ?? data['callId'] ?? '')
      const isError = block['isError'] === true || isRecord(data['error'])
      return yield {
        kind: 'result',
        callId,
        parts: dshSpoken(block['content'], left),
        isError,
        time,
        mark,
      }
    }
    case 'turn/end':
      return yield { kind: 'end', reason: reasonOf(data['reason']), time }
    case 'session/title':
      return yield { kind: 'title', title: textIn(data['title']) ?? '', by: 'model', time }
    case 'llm/retry': {
      const { code, message: words } = recordIn(data['failure'])
      const said = textIn(words) ?? 'The request failed.'
      return yield { kind: 'failed', code: textIn(code) ?? 'IMPORTED_FAILURE', message: said, time }
    }
    default:
      if (!silent.has(type)) left.add(`events of the type ${type}`, JSON.stringify(data))
      return undefined
  }
}

/** Whether an event takes the place of others: the text of a summary comes so a second time. */
function isReplacement({ surfaceOp }: Loose): boolean {
  return surfaceOp !== undefined && JSON.stringify(surfaceOp).includes('replace')
}

/** A summary counts once its compaction has ended well. */
function* summaryEntries(
  value: Loose | undefined,
  { error }: Loose,
  left: LeftBehind,
): Generator<Entry> {
  if (value === undefined) return
  const { summary, shadowedRange, shadowedSeqs } = recordIn(value['data'])
  const text = typeof summary === 'string' ? summary : dshTexts(summary)
  if (error !== undefined) return left.add('compactions that failed', text)
  const { end } = recordIn(shadowedRange)
  const last = listIn(shadowedSeqs).at(-1) ?? end
  const name = typeof last === 'number' ? String(last) : undefined
  yield { kind: 'summary', text, last: name, time: timeIn(value['time']) }
}

function reasonOf(reason: unknown): TurnEndReason {
  const name =
    typeof reason === 'string' ? reason : (recordIn(reason)['kind'] ?? recordIn(reason)['type'])
  return turnEndReasons.find((known) => known === name) ?? 'error'
}

/** Text that had arrived of an answer that never became a message. */
class StreamedText {
  #text = ''

  add(type: string, value: Loose): void {
    if (type === 'text-chunks') {
      const texts = Object.values(value).find((member) => listIn(member).some(isText))
      this.#text += listIn(texts).filter(isText).join('')
    } else if (type === 'assistant/chunk') {
      const { type: kind, text, delta } = recordIn(recordIn(value['data'])['chunk'])
      if (kind === 'text-delta') this.#text += textIn(text) ?? textIn(delta) ?? ''
    }
  }

  clear(): void {
    this.#text = ''
  }

  *entries(time: number | undefined, left: LeftBehind): Generator<Entry> {
    if (this.#text === '') return
    left.add('answers that were cut off, kept as failed tries', this.#text)
    yield {
      kind: 'failed',
      code: 'INTERRUPTED',
      message: 'The answer was cut off.',
      partial: this.#text,
      time,
    }
    this.clear()
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
