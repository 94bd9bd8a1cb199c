import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cliError } from './errors.ts'

const MAX_BYTES = 4 * 1024 * 1024
const FIRST_BYTE_MS = 1_000

/** `typed` are the words of it, where they are not all. */
export interface GivenTask {
  readonly task?: string
  readonly typed?: string
}

/**
 * The task of the words and of stdin: `-` stands for what is piped in; without words all of it is
 * the task, and with words it follows them. Nothing when there is neither. `needed` says that
 * without a task there is nothing to do, so that a pipe is waited for.
 */
export async function readTask(
  words: readonly string[],
  stdin: NodeJS.ReadStream,
  { needed, warn }: { needed: boolean; warn: (text: string) => void },
): Promise<GivenTask> {
  const typed = words
    .filter((word) => word !== '-')
    .join(' ')
    .trim()
  const waits = words.includes('-') || (needed && typed === '' && !stdin.isTTY)
  const piped = waits || (await bringsSomething(stdin, warn)) ? await readAll(stdin) : ''
  const parts = [typed, piped.trim()].filter((part) => part !== '')
  if (parts.length === 0) return {}
  const task = parts.join('\n\n')
  return task === typed ? { task } : { task, typed }
}

/** Whoever started this may have left a pipe open that nothing will ever come through. */
async function bringsSomething(
  stdin: NodeJS.ReadStream,
  warn: (text: string) => void,
): Promise<boolean> {
  if (stdin.isTTY || !isPipeOrFile()) return false
  const came = await Promise.race([
    once(stdin, 'readable').then(
      () => true,
      () => false,
    ),
    sleep(FIRST_BYTE_MS, false),
  ])
  if (came) return true
  warn('Nothing came through stdin within a second, so it is not used; "-" waits for it.\n')
  stdin.destroy()
  return false
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdin) {
    const piece = Buffer.from(chunk as Uint8Array)
    bytes += piece.length
    if (bytes > MAX_BYTES) {
      const reason = `More than ${MAX_BYTES} bytes came through stdin. Put them into a file and name it.`
      throw cliError('USAGE', { reason })
    }
    chunks.push(piece)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function isPipeOrFile(): boolean {
  try {
    const stat = fstatSync(0)
    return stat.isFIFO() || stat.isFile() || stat.isSocket()
  } catch {
    // A closed stdin brings nothing.
    return false
  }
}
