import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { measureComposition } from './composition.ts'
import { measureProcesses } from './processes.ts'
import { passes, printRow, type Row } from './row.ts'
import { measureSessions } from './sessions.ts'
import { measureSizes } from './sizes.ts'

/** A report without one of these is no report. */
const wanted = [
  'node -e 0',
  'packed: --version',
  'packed: --help',
  'packed: start to first request',
  'packed: peak memory of a short run',
  'packed: one more trivial row',
  'packed: on the disk',
  'packed: packages of others',
  'request for "hi"',
  'cordage --version',
  'cordage --help',
  'headless: start to first request',
  'headless: peak memory of a short run',
  'step: CPU at 10 messages',
  'step: CPU at 1000 messages',
  'append, on the disk',
  'append, written',
  'open a session of 10000 facts',
  'core: lines that are not blank',
  'prompt: all rows',
  'prompt: context-guidance',
  'prompt: context-surroundings',
  'prompt: tool-apply-patch',
  'prompt: tool-bash',
  'prompt: tool-edit',
  'prompt: tool-glob',
  'prompt: tool-grep',
  'prompt: tool-list',
  'prompt: tool-read',
  'prompt: tool-write',
]

const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`
console.log(`${machine}, ${platform()} ${release()} ${arch()}, node ${process.version}`)
console.log(
  `load before: ${loadavg()
    .map((load) => load.toFixed(2))
    .join(' ')}\n`,
)
console.log(`${''.padEnd(44)}    N       min    median`)

const rows: Row[] = []
for (const measure of [measureProcesses, measureComposition, measureSessions, measureSizes]) {
  for (const row of await measure()) {
    rows.push(row)
    console.log(printRow(row))
  }
}

const usable = new Set(
  rows.filter(({ samples }) => samples.every(Number.isFinite)).map((row) => row.name),
)
const missing = wanted.filter((name) => !usable.has(name))
if (missing.length > 0) {
  console.error(`\nThese rows are missing: ${missing.join('; ')}`)
  process.exitCode = 1
}
const failed = rows.filter((row) => !passes(row)).map(({ name }) => name)
if (failed.length > 0) {
  console.error(`\nOver their limit: ${failed.join('; ')}`)
  process.exitCode = 1
}
