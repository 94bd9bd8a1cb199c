import type { Credentials } from '@cordage/core/credential'
import type { HarnessError } from '@cordage/core/error'
import type { Actor, Decision, Effect } from '@cordage/core/policy'
import type { Fact } from '@cordage/core/session'
import type { Memories, MemoryItem } from '@cordage/core/store'
import { defineTool } from '@cordage/core/tool'
import { z } from 'zod'
import { recallError } from './errors.ts'
import { findGrounds } from './grounds.ts'
import { secretIn } from './secrets.ts'
import { transientIn } from './transient.ts'

export const WRITE = 'memory_write'
export const ownTools = [WRITE, 'memory_search', 'memory_forget']

const parameters = z.strictObject({
  text: z.string().trim().min(1),
  scope: z.enum(['user', 'project']),
  basis: z.enum(['user_said', 'verified_fact']),
  source: z.string().optional(),
  expires: z.string().refine(isDay, 'give a day such as 2026-12-31').optional(),
  replaces: z.string().optional(),
})

type Arguments = z.output<typeof parameters>

export interface WriteOptions {
  readonly memories: Memories
  readonly credentials: Credentials
  /** The log of a session, to be read only. */
  readonly factsOf: (session: string) => AsyncIterable<Fact>
  readonly maxChars: number
}

/**
 * Remembers something, on grounds that the log of the session bears out. What people did not type
 * themselves they are asked about, whatever the mode.
 */
export function writeTool({ memories, credentials, factsOf, maxChars }: WriteOptions) {
  const refusal = (args: Arguments) => refuse(args, credentials, maxChars)
  return defineTool<Arguments, MemoryItem>({
    name: WRITE,
    description:
      'Remembers one lasting fact for later sessions. user_said: whole sentences the user typed ' +
      'here, verbatim. verified_fact: source is words copied from a tool result here. No secrets, ' +
      'guesses, passing errors, outputs. expires: last day, 2026-12-31. replaces: id of what it ' +
      'supersedes.',
    parameters,
    // What is refused anyway nobody is asked about, and no question repeats it.
    effects: (args) => (refusal(args) ? [] : [effectOf(args)]),
    async execute(args, { sessionId, project }) {
      const refused = refusal(args)
      if (refused) throw refused
      const { text, scope, basis, expires, replaces } = args
      const grounds = await findGrounds(factsOf(sessionId), args, ownTools)
      return memories.add(project, {
        text,
        scope,
        basis,
        source: { session: sessionId, ...grounds },
        ...(expires === undefined ? {} : { expires: endOf(expires) }),
        ...(replaces === undefined ? {} : { replaces }),
      })
    },
    render: ({ id, scope }, { replaces }) =>
      `Remembered as ${id}, for ${scope === 'user' ? 'every project' : 'this project'}.` +
      (replaces === undefined ? '' : ` ${replaces} is history now.`),
    title: ({ scope }) => `remember for the ${scope}`,
  })
}

/** Why it is refused whatever the session holds. */
function refuse(
  { text, source = '', expires }: Arguments,
  credentials: Credentials,
  max: number,
): HarnessError | undefined {
  const chars = Math.max(text.length, source.length)
  if (chars > max) return recallError('MEMORY_TOO_LONG', { chars, max })
  const said = `${text}\n${source}`
  const known = credentials.redact(said) === said ? undefined : 'a secret that is in use here'
  const what = known ?? secretIn(text) ?? secretIn(source)
  if (what !== undefined) return recallError('MEMORY_SECRET', { what })
  const words = transientIn(text)
  if (words !== undefined) return recallError('MEMORY_TRANSIENT', { words })
  if (expires !== undefined && endOf(expires) <= Date.now()) {
    return recallError('MEMORY_EXPIRED', { expires })
  }
  return undefined
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const end = endOf(text)
  // The 30th of February is read as a day of March.
  return !Number.isNaN(end) && new Date(end).toISOString().startsWith(text)
}

/** The last moment of a day. */
function endOf(day: string): number {
  return Date.parse(`${day}T23:59:59.999Z`)
}

const SAID = 'long-term memory, word for word of the user'
const SHOWN = 'long-term memory, from what a tool gave'

function effectOf({ text, scope, basis }: Arguments): Effect {
  const how = basis === 'user_said' ? SAID : SHOWN
  return { kind: 'config', target: `${how} (for the ${scope}): ${text}` }
}

/**
 * What people typed need not be asked again where the configuration may change at all: the body
 * refuses what they did not. Everything else is asked about in every mode.
 */
export function decideWrite(effect: Effect, actor: Actor): Decision | undefined {
  if (effect.kind !== 'config' || actor.tool !== WRITE) return undefined
  const rule = 'context-recall'
  if (effect.target.startsWith(SAID)) {
    return { answer: 'allow', rule, reason: 'it is what the user typed' }
  }
  return {
    answer: 'ask',
    rule,
    reason: 'what the user did not type is remembered only if approved',
  }
}
