import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A real process that owns a session. */
export interface Owner {
  readonly process: ChildProcess
  /** Every line it said so far. */
  readonly said: string[]
  /** Resolves with the next line, `undefined` at its end. */
  next(): Promise<string | undefined>
  add(): void
  kill(): Promise<void>
}

/** Resolves once the process owns the session. */
export async function startOwner(root: string, id: string, mode = 'lines'): Promise<Owner> {
  const script = fileURLToPath(new URL('owner.ts', import.meta.url))
  const child = spawn(process.execPath, [script, root, id, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'cordage-compile-cache') },
  })
  const exited = once(child, 'exit')
  const said: string[] = []
  const waiting: ((line: string | undefined) => void)[] = []
  let read = 0
  const end = { reached: false }
  const settle = () => {
    while (waiting.length > 0 && (end.reached || read < said.length))
      waiting.shift()?.(said[read++])
  }
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => {
    said.push(line)
    settle()
  })
  lines.on('close', () => {
    end.reached = true
    settle()
  })
  const owner: Owner = {
    process: child,
    said,
    next: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        settle()
      }),
    add: () => child.stdin.write('add\n'),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
  const first = await owner.next()
  if (first !== 'open') throw new Error(`the owner said ${first}`)
  return owner
}
