import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { printRow, problemsOf, type Row } from './row.ts'

/** Rows that are measured together. A report without one of them is no report. */
interface Group {
  readonly rows: readonly string[]
  /** They measure what is packed, so that it has to be packed first. */
  readonly packed?: boolean
  measure(): Promise<Row[]>
}

const groups: readonly Group[] = [
  {
    rows: [
      'node -e 0',
      'packed: --version',
      'packed: --help',
      'packed: start to first request',
      'packed: peak memory of a short run',
      'request for "hi"',
      'cordage --version',
      'cordage --help',
      'headless: start to first request',
      'headless: peak memory of a short run',
    ],
    packed: true,
    measure: async () => (await import('./processes.ts')).measureProcesses(),
  },
  {
    rows: ['packed: one more trivial row', 'packed: on the disk', 'packed: packages of others'],
    packed: true,
    measure: async () => (await import('./composition.ts')).measureComposition(),
  },
  {
    rows: [
      'step: CPU at 10 messages',
      'step: CPU at 1000 messages',
      'step: CPU at 1000 messages, body aside',
    ],
    measure: async () => (await import('./steps.ts')).measureSteps(),
  },
  {
    rows: ['turn: CPU of the last 100 of 2000'],
    measure: async () => (await import('./steps.ts')).measureTurns(),
  },
  {
    rows: ['meter: measure at 10 messages', 'meter: measure at 2000 messages'],
    measure: async () => (await import('./meter.ts')).measureMeter(),
  },
  {
    rows: [
      'prefix, 30 plugins: openai-completions',
      'prefix, 30 plugins: openai-responses',
      'prefix, 30 plugins: anthropic-messages',
    ],
    measure: async () => (await import('./prefix.ts')).measurePrefix(),
  },
  {
    rows: [
      'compaction of 10 MB of results',
      'compaction of 10 MB of results: longest stall',
      'compaction of 10 MB of results: most held',
      'compaction of 10 MB of results: left of it',
      'compaction of 10 MB of talk',
      'compaction of 10 MB of talk: longest stall',
      'compaction of 10 MB of talk: most held',
      'compaction of 10 MB of talk: left of it',
    ],
    measure: async () => (await import('./compaction.ts')).measureCompaction(),
  },
  {
    rows: ['result of 200 MB: memory', 'page of 200 MB: memory'],
    measure: async () => (await import('./spill.ts')).measureSpill(),
  },
  {
    rows: ['100000 deltas', '100000 deltas: longest stall'],
    measure: async () => (await import('./deltas.ts')).measureDeltas(),
  },
  {
    rows: ['50000 deltas: Chat Completions', '50000 deltas: Responses', '50000 deltas: Messages'],
    measure: async () => (await import('./sdks.ts')).measureSdks(),
  },
  {
    rows: [
      'agent that waits, new: heap',
      'agent that waits, new: memory',
      'agent that waits, after a turn: heap',
      'agent that waits, after a turn: memory',
    ],
    measure: async () => (await import('./agents.ts')).measureAgents(),
  },
  {
    rows: [
      '600 MB of output, foreground: heap',
      '600 MB of output, foreground: memory',
      '600 MB of output, foreground: most held',
      '600 MB of output, background: heap',
      '600 MB of output, background: memory',
      '600 MB of output, background: most held',
    ],
    measure: async () => (await import('./shell.ts')).measureShell(),
  },
  {
    rows: [
      'append, on the disk',
      'append, written',
      'open a session of 10000 facts',
      'fork a session of 10000 facts',
    ],
    measure: async () => (await import('./sessions.ts')).measureSessions(),
  },
  {
    rows: ['replay of the sample run'],
    measure: async () => (await import('./replay.ts')).measureReplay(),
  },
  {
    rows: [
      'open: 300000 facts',
      'memory: 300000 facts',
      'snapshot: 300000 facts',
      'log: 300000 facts',
      'slowest append: 300000 facts',
      'append: 300000 facts',
      'open: 1 GB',
      'memory: 1 GB',
      'snapshot: 1 GB',
      'log: 1 GB',
      'slowest append: 1 GB',
      'append: 1 GB',
      'open: 100000 facts on the surface',
      'memory: 100000 facts on the surface',
      'snapshot: 100000 facts on the surface',
      'log: 100000 facts on the surface',
      'slowest append: 100000 facts on the surface',
      'append: 100000 facts on the surface',
    ],
    measure: async () => (await import('./long.ts')).measureLong(),
  },
  {
    rows: [
      'list 4000 sessions, catalog cold',
      'list 4000 sessions, thread started',
      'list 4000 sessions',
      'first 50 of 10000, catalog cold',
      'first 50 of 10000, thread started',
      'first 50 of 10000',
    ],
    measure: async () => (await import('./long.ts')).measureLists(),
  },
  {
    rows: [
      'search: 100000 events',
      'search: slowest of 100000 events',
      'index: 1000 events',
      'index: size of 100000 events',
    ],
    measure: async () => (await import('./search.ts')).measureSearch(),
  },
  {
    rows: [
      'core: lines that are not blank',
      'prompt: all rows',
      'prompt: context-guidance',
      'prompt: context-spill',
      'prompt: context-surroundings',
      'prompt: context-time',
      'prompt: tool-apply-patch',
      'prompt: tool-bash',
      'prompt: tool-edit',
      'prompt: tool-glob',
      'prompt: tool-grep',
      'prompt: tool-list',
      'prompt: tool-read',
      'prompt: tool-write',
    ],
    measure: async () => (await import('./sizes.ts')).measureSizes(),
  },
]

/** `npm run bench -- <words>` measures only the rows whose names contain one of the words. */
const words = process.argv.slice(2)
const isWanted = (name: string) => words.length === 0 || words.some((word) => name.includes(word))
const chosen = groups.filter(({ rows }) => rows.some(isWanted))
if (chosen.length === 0) {
  console.error(`No row is named so. There are: ${groups.flatMap(({ rows }) => rows).join('; ')}`)
  process.exit(1)
}
if (chosen.some(({ packed }) => packed) && process.env['CORDAGE_PACKED'] === undefined) {
  const install = new URL('../../scripts/pack/install.mjs', import.meta.url).href
  const { providePacked } = (await import(install)) as { providePacked(): unknown }
  providePacked()
}

const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`
console.log(`${machine}, ${platform()} ${release()} ${arch()}, node ${process.version}`)
const load = loadavg().map((one) => one.toFixed(2))
console.log(`load before: ${load.join(' ')}\n\n${''.padEnd(44)}    N       min    median`)

const rows: Row[] = []
for (const group of chosen) {
  for (const row of (await group.measure()).filter(({ name }) => isWanted(name))) {
    rows.push(row)
    console.log(printRow(row))
  }
}

const wanted = chosen.flatMap((group) => group.rows).filter(isWanted)
for (const problem of problemsOf(rows, wanted)) {
  console.error(`\n${problem}`)
  process.exitCode = 1
}
