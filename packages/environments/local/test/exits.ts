import { execFileSync } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProcesses } from '../src/processes.ts'
import { runRipgrep } from '../src/ripgrep.ts'

// A process that runs a command in `directory` and ends in the way it is told, without waiting.
const [how = '', directory = '', mark = ''] = process.argv.slice(2)
const closing = new AbortController().signal
const host = { env: { PATH: process.env['PATH'] }, home: '/', cwd: '/', version: '0' }
const processes = createProcesses(host, { env: [], killGraceMs: 60_000 }, closing)

async function start(script: string) {
  const argv = processes.shell.argv(`trap '' TERM INT; ${script}`)
  return processes.start({ argv, cwd: directory, env: processes.baseEnv() }, closing)
}

function hasStarted(): boolean {
  try {
    return readFileSync(`${directory}/ready`, 'utf8') !== ''
  } catch {
    return false
  }
}

await (
  await start('true')
).exit
if (process.listenerCount('exit') !== 0) process.exit(9)
const running = await start(
  `(setsid sleep ${mark} &); sleep ${mark} & echo x > ready; sleep ${mark}`,
)
while (!hasStarted()) await sleep(5)
// As when it is being stopped in order, which takes a minute here.
if (how === 'stopping') {
  void running.kill()
  await sleep(20)
}
// A search that waits for ever: of a pipe into which nobody writes.
if (how === 'searching') {
  execFileSync('mkfifo', [`${directory}/pipe`])
  const stdin = openSync(`${directory}/pipe`, 'r+')
  const search = { args: [mark, '-'], cwd: directory, path: directory, stdin, delimiter: 10 }
  void runRipgrep({ ...search, signal: closing, onRecord: () => true })
  await sleep(200)
}
if (how === 'throw') {
  setTimeout(() => {
    throw new Error('nobody catches this')
  })
} else process.exit(3)
