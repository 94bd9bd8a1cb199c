import type { Context, Scope } from '../kernel/index.ts'
import type { Account } from '../ledger/index.ts'
import { type Message, newId } from '../message/index.ts'
import { intersect, type Authority } from '../policy/index.ts'
import { inboxSplice, type InboxQueue, type Session } from '../session/index.ts'
import type { Agent, ModelChoice } from './agent.ts'
import { agentError } from './errors.ts'
import { goOnText, isCutShort } from './go-on.ts'
import { editedMessage, personMessage } from './queue.ts'
import { createTurns, type Turns } from './turns.ts'

export interface AgentParts {
  readonly ctx: Context
  readonly session: Session
  readonly scope: Scope
  readonly preset: string
  readonly account: Account
  readonly authority: Authority
  readonly choice: ModelChoice
  readonly parent: Agent | undefined
  readonly notices: readonly string[]
  /** Called when no turn runs any more, before anything is closed. */
  readonly onClose: () => Promise<void>
}

/** Puts a session, a scope and an account together into something that takes turns. */
export function createAgent(parts: AgentParts): Agent {
  const { session, scope, account, choice, parent, preset, notices } = parts
  let own = parts.authority
  const turns = createTurns(parts.ctx, () => agent)
  let closing: Promise<void> | undefined

  const splice = async (data: Parameters<typeof inboxSplice>[0]): Promise<void> => {
    if (closing) throw agentError('AGENT_CLOSED', { id: session.id })
    await session.append([inboxSplice(data)])
  }

  const put = async (text: string, queue: InboxQueue, typed?: string): Promise<Message> => {
    const message = personMessage(newId(), text, typed)
    await splice({ inserted: [{ queue, message }], cause: 'send' })
    return message
  }

  const edit = async (id: string, text: string): Promise<Message> => {
    const message = editedMessage(session.inbox, id, text)
    await splice({ edited: [message], released: [id], cause: 'edit' })
    return message
  }

  const goOn = async (): Promise<Message> => {
    if (!isCutShort(session.turn)) throw agentError('NOTHING_INTERRUPTED', { id: session.id })
    return put(await goOnText(parts.ctx, agent), 'next-step', '')
  }

  const agent: Agent = {
    id: session.id,
    session,
    scope,
    preset,
    account,
    // What is taken from a parent is taken from its children at once.
    get authority() {
      return parent ? intersect(parent.authority, own) : own
    },
    set authority(authority) {
      own = authority
    },
    choice,
    parent,
    notices,
    get status() {
      return turns.status()
    },
    async send(text, { queue = 'next-turn', wake = true, typed } = {}) {
      const message = await put(text, queue, typed)
      // How the turn ends is told elsewhere; that none can begin is told here.
      if (wake) void turns.wake()
      return message
    },
    steer: (text) => agent.send(text, { queue: 'next-step' }),
    edit,
    goOn,
    reorder: (ids) => splice({ order: [...ids], cause: 'edit' }),
    unsend: (ids) => splice({ removed: [...ids], cause: 'edit' }),
    release: (ids) => splice({ released: [...ids], cause: 'edit' }),
    wake: async () => turns.wake(),
    cancel: (reason = 'cancelled') => turns.cancel(reason),
    idle: turns.idle,
    close: () => (closing ??= close(parts, turns)),
  }
  return agent
}

async function close(parts: AgentParts, turns: Turns): Promise<void> {
  await turns.stop()
  try {
    await parts.onClose()
    parts.account.close()
    await parts.scope.close()
  } finally {
    await parts.session.close()
  }
}
