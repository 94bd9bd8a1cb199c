import { newId, textMessage, textOf, toolCallsOf, type Message } from '@cordage/core/message'
import type { PinnedFact, SurfaceEntry } from '@cordage/core/session'
import { escapeNotes, escapeTag, frame } from '@cordage/core/tool'

const LAST_CALLS = 12
const FACTS_TAG = 'pinned_facts'

export interface Told {
  readonly episodeId: string
  readonly snapshot: string
  readonly pinned: readonly PinnedFact[]
  /** How many messages it stands for. */
  readonly messages: number
  /** The tool by which the model can read them, where it has one. */
  readonly reader?: string
  /** Nothing stands after it: a person waits for an answer to what it says. */
  readonly isLast: boolean
}

/** The message that stands for the older part of a history. */
export function summaryMessage(told: Told): Message {
  const { episodeId, snapshot, messages, reader, isLast } = told
  const facts = pinnedText(told.pinned)
  const text = [
    `The ${messages} messages before this one were replaced by this summary of them (episode ${episodeId}).`,
    withoutForgery(snapshot),
    ...(facts === '' ? [] : ['Word for word, from the messages themselves:', facts]),
    ...(reader ? [`${reader} with snapshot_id "${episodeId}" gives the originals.`] : []),
    ...(isLast ? ['Go on with what was asked last.'] : []),
  ].join('\n\n')
  const source = { kind: 'plugin', row: 'context-compaction', form: 'summary' } as const
  return textMessage(newId(), 'user', text, source)
}

/** A model wrote it: nothing of it may pass for what is carried, or for words of the harness. */
function withoutForgery(snapshot: string): string {
  return escapeTag(escapeNotes(snapshot), FACTS_TAG)
}

/** Whether a message says each of the facts word for word. */
export function carries(message: Message, pinned: readonly PinnedFact[]): boolean {
  const said = textOf(message)
  return pinned.every((fact) =>
    said.includes(pinnedText([fact]).split('\n').slice(1, -1).join('\n')),
  )
}

function pinnedText(pinned: readonly PinnedFact[]): string {
  if (pinned.length === 0) return ''
  return frame(FACTS_TAG, {}, pinned.map(({ kind, text }) => `${kind}: ${text}`).join('\n'))
}

/** A snapshot that no model wrote: what is pinned, and what was called last. */
export function snapshotWithoutModel(
  pinned: readonly PinnedFact[],
  entries: readonly SurfaceEntry[],
): string {
  const of = (...kinds: string[]) => {
    const lines = pinned.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text)
    return lines.length > 0 ? lines.join('\n') : 'none'
  }
  const calls = entries.flatMap(({ message }) => toolCallsOf(message))
  const last = calls.slice(-LAST_CALLS).map(({ name, arguments: args }) => {
    return `${name} ${args.slice(0, 200)}`
  })
  return [
    '<state_snapshot>',
    frame('overall_goal', {}, of('goal')),
    frame(
      'key_knowledge',
      {},
      `No model could be had to sum up what was said.\n${of('constraint')}`,
    ),
    frame('file_system_state', {}, of('file')),
    frame('recent_actions', {}, last.length > 0 ? last.join('\n') : 'none'),
    frame('current_plan', {}, of('todo', 'next')),
    '</state_snapshot>',
  ].join('\n')
}

/** A transcript in plain text, where messages cannot be sent as they are. */
export function transcriptOf(entries: readonly SurfaceEntry[]): string[] {
  return entries.map(({ message }) => {
    const parts = message.content.map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return `[calls ${part.name} ${part.arguments}]`
      if (part.type === 'tool-result') {
        return `[${part.name} ${part.isError ? 'failed' : 'gave'}: ${textOf(part)}]`
      }
      return part.type === 'image' ? '[an image]' : ''
    })
    return `${message.role}: ${parts.filter((part) => part !== '').join('\n')}`
  })
}
