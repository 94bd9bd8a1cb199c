import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { credentialFileError } from './errors.ts'

const MAX_BYTES = 64 * 1024

/**
 * A value that is typed without being shown, or all of what is piped in; line ends at its end are
 * not part of it. Undefined when the person gives up.
 */
export async function readSecret(
  stdin: NodeJS.ReadStream,
  prompt: { readonly text: string; readonly write: (text: string) => void },
): Promise<string | undefined> {
  if (!stdin.isTTY) return (await readAll(stdin)).replace(/[\r\n]+$/, '')
  const typed = await readUnseen(stdin, () => prompt.write(prompt.text))
  prompt.write('\n')
  return typed?.trim()
}

/**
 * The line editor works as ever, but what it would draw goes nowhere. `ready` is called when the
 * terminal shows nothing of its own any more: what is typed before that could be seen.
 */
function readUnseen(stdin: NodeJS.ReadStream, ready: () => void): Promise<string | undefined> {
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input: stdin, output, terminal: true, historySize: 0 })
  return new Promise((resolve) => {
    editor.once('line', (line) => {
      resolve(line)
      editor.close()
    })
    editor.once('SIGINT', () => editor.close())
    editor.once('close', () => resolve(undefined))
    ready()
  })
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array))
    bytes += chunks.at(-1)?.length ?? 0
    const reason = `more than ${MAX_BYTES} bytes came through stdin`
    if (bytes > MAX_BYTES) throw credentialFileError('CREDENTIAL_REFUSED', { name: 'it', reason })
  }
  return Buffer.concat(chunks).toString('utf8')
}
