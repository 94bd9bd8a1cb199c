import { isHarnessError } from '@cordage/core/error'
import type { Context } from '@cordage/core/kernel'
import { textOf } from '@cordage/core/message'
import {
  assistantMessage,
  type Fact,
  type LiveDelta,
  type Session,
  type SessionUpdate,
} from '@cordage/core/session'
import { harmless } from '../print/table.ts'
import { exitOfSignal, listenForSignals } from '../signals.ts'
import { cliError } from './errors.ts'

export interface FollowOptions {
  readonly textOfFact: (fact: Fact) => string | undefined
  /** Print an answer as it comes in. */
  readonly deltas: boolean
}

/**
 * Prints what comes to a session, as it comes, until a signal ends it. Throws `SESSION_GONE` once
 * there is no such session any more, and whatever else keeps it from being read.
 */
export async function followSession(
  ctx: Context,
  session: Session,
  { textOfFact, deltas }: FollowOptions,
): Promise<number> {
  const printer = new Printer(textOfFact)
  const { signal, dispose } = listenForSignals(() => {})
  // What a session waits with keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  const print = (update: SessionUpdate) => {
    if (update.kind === 'fact') printer.fact(update.fact)
    else if (deltas) printer.delta(update.delta)
  }
  try {
    await new Promise((resolve, reject) => {
      signal.addEventListener('abort', resolve)
      session.watch(ctx, print, reject)
    })
    return exitOfSignal(signal)
  } catch (error) {
    throw isHarnessError(error, 'SESSION_NOT_FOUND')
      ? cliError('SESSION_GONE', { id: session.id }, { cause: error })
      : error
  } finally {
    clearInterval(alive)
    dispose()
  }
}

/** An answer is printed once: its beginning as it comes in, the rest when it is a fact. */
class Printer {
  readonly #textOfFact: (fact: Fact) => string | undefined
  #streamed = ''

  constructor(textOfFact: (fact: Fact) => string | undefined) {
    this.#textOfFact = textOfFact
  }

  delta({ kind, text }: LiveDelta): void {
    if (kind !== 'text') return
    this.#streamed += text
    process.stdout.write(harmless(text))
  }

  fact(fact: Fact): void {
    const streamed = this.#streamed
    const said = assistantMessage.is(fact) ? textOf(fact.data.message) : undefined
    if (streamed !== '' && said?.startsWith(streamed)) {
      process.stdout.write(`${harmless(said.slice(streamed.length))}\n`)
      this.#streamed = ''
      return
    }
    const text = this.#textOfFact(fact)
    if (text === undefined) return
    process.stdout.write(streamed === '' ? `${text}\n` : `\n${text}\n`)
    this.#streamed = ''
  }
}
