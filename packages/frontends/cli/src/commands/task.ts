import { fstatSync } from 'node:fs'
import { cliError } from './errors.ts'

const MAX_BYTES = 4 * 1024 * 1024
const FIRST_BYTE_MS = 1_000

/**
 * The task of the words and of stdin: `-` stands for what is piped in; without words all of it is
 * the task, and with words it follows them. Undefined when there is neither.
 */
export async function readTask(
  words: readonly string[],
  stdin: NodeJS.ReadStream,
  warn: (text: string) => void,
): Promise<string | undefined> {
  const text = words
    .filter((word) => word !== '-')
    .join(' ')
    .trim()
  const wanted = words.includes('-')
  const piped = await readPiped(stdin, wanted || (words.length === 0 && !stdin.isTTY), warn)
  const parts = [text, piped.trim()].filter((part) => part !== '')
  return parts.length === 0 ? undefined : parts.join('\n\n')
}

async function readPiped(
  stdin: NodeJS.ReadStream,
  wanted: boolean,
  warn: (text: string) => void,
): Promise<string> {
  if (wanted) return readAll(stdin)
  if (stdin.isTTY || !isPipeOrFile()) return ''
  // Whoever started this may have left a pipe open that nothing will ever come through.
  if (await bringsSomething(stdin)) return readAll(stdin)
  return ''

  async function bringsSomething(stream: NodeJS.ReadStream): Promise<boolean> {
    const timeout = AbortSignal.timeout(FIRST_BYTE_MS)
    return new Promise<boolean>((resolve) => {
      const settle = (value: boolean) => {
        stream.off('readable', onReadable)
        stream.off('error', onError)
        resolve(value)
      }
      const onReadable = () => settle(true)
      const onError = () => settle(false)
      timeout.addEventListener('abort', () => {
        if (stream.listenerCount('readable') === 0) return
        warn('Nothing came through stdin within a second, so it is not used; "-" waits for it.\n')
        settle(false)
        stream.destroy()
      })
      stream.once('readable', onReadable)
      stream.once('error', onError)
    })
  }
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
