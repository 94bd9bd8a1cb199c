import { textMessage, textOf, type ContentPart, type Message } from '../message/index.ts'
import { inboxSplice, type InboxEntry, type InboxState, type NewFact } from '../session/index.ts'
import { agentError } from './errors.ts'

const WORDS_CHARS = 80

/** A message that waits with other words of a person; what it shows besides words stays. */
export function editedMessage(inbox: InboxState, id: string, text: string): Message {
  const { content, ...message } = personMessage(id, text)
  const entry = inbox.find((one) => idOf(one) === id)
  if (!entry) throw agentError('MESSAGE_GONE', { id })
  return { ...message, content: [...content, ...entry.message.content.filter(isShown)] }
}

function isShown({ type }: ContentPart): boolean {
  return type !== 'text'
}

/** All of it is `typed` by a person unless given. Throws `MESSAGE_EMPTY`. */
export function personMessage(id: string, text: string, typed?: string): Message {
  if (text.trim() === '') throw agentError('MESSAGE_EMPTY')
  return textMessage(id, 'user', text, {
    kind: 'user',
    ...(typed === undefined || typed === text ? {} : { typed }),
  })
}

/**
 * What a person asks of the messages that wait: `list` or nothing, `edit 2 other words`,
 * `move 3 1`, `remove 1 2`, `release 1`; an entry is its place, counted from 1, or its message id.
 * `undefined` where nothing changes. Throws `QUEUE_REQUEST`, `QUEUE_PLACE` and `MESSAGE_EMPTY`.
 */
export function queueChange(inbox: InboxState, request: string): NewFact | undefined {
  const [verb = '', rest = ''] = firstWord(request)
  if (verb === '' || (verb === 'list' && rest === '')) return undefined
  const [name = '', text = ''] = firstWord(rest)
  if (name === '' || !isVerb(verb)) throw agentError('QUEUE_REQUEST', { request })
  return changes[verb](inbox, { name, text, request })
}

/** The messages that wait, in order: place, id, when it is taken, what it says, why it is held. */
export function queueRows(inbox: InboxState): string[][] {
  return inbox.map(({ queue, message, held }, index) => {
    const when = queue === 'next-step' ? 'next step' : 'next turn'
    const why = held === undefined ? [] : [`held: ${oneLine(held)}`]
    return [String(index + 1), message.id, when, oneLine(textOf(message)), ...why]
  })
}

interface Asked {
  readonly name: string
  readonly text: string
  readonly request: string
}

const changes = {
  edit: (inbox: InboxState, { name, text }: Asked) => {
    const id = idOf(entryAt(inbox, name))
    return inboxSplice({ edited: [editedMessage(inbox, id, text)], released: [id], cause: 'edit' })
  },
  move(inbox: InboxState, { name, text, request }: Asked) {
    const moved = entryAt(inbox, name)
    if (text === '' || /\s/.test(text)) throw agentError('QUEUE_REQUEST', { request })
    const to = inbox.indexOf(entryAt(inbox, text))
    const order = inbox.filter((entry) => entry !== moved).toSpliced(to, 0, moved)
    return inboxSplice({ order: order.map(idOf), cause: 'edit' })
  },
  remove: (inbox: InboxState, asked: Asked) => {
    return inboxSplice({ removed: named(inbox, asked), cause: 'edit' })
  },
  release: (inbox: InboxState, asked: Asked) => {
    return inboxSplice({ released: named(inbox, asked), cause: 'edit' })
  },
}

function isVerb(word: string): word is keyof typeof changes {
  return Object.hasOwn(changes, word)
}

function named(inbox: InboxState, { name, text }: Asked): string[] {
  const names = [name, ...text.split(/\s+/)].filter((word) => word !== '')
  return names.map((word) => idOf(entryAt(inbox, word)))
}

function entryAt(inbox: InboxState, name: string): InboxEntry {
  const at = /^\d{1,6}$/.test(name) ? inbox[Number(name) - 1] : undefined
  const entry = inbox.find(({ message }) => message.id === name) ?? at
  if (!entry) throw agentError('QUEUE_PLACE', { name, waiting: inbox.length })
  return entry
}

function idOf({ message }: InboxEntry): string {
  return message.id
}

function firstWord(text: string): string[] {
  return /^(\S*)\s*([\s\S]*)$/.exec(text.trim())?.slice(1) ?? []
}

function oneLine(text: string): string {
  const line = [...text.replaceAll(/\s+/g, ' ').trim()]
  return line.length > WORDS_CHARS ? `${line.slice(0, WORDS_CHARS - 1).join('')}…` : line.join('')
}
