import { execFile, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** The variable whose value every descendant of a started process inherits. */
export const MARKER = 'CORDAGE_RUN'

/** A process that was started as the leader of its own session, and everything it started. */
export interface Tree {
  readonly pid: number
  readonly marker: string
  /** In ticks since the system's own start. */
  readonly startedAt: number
  /** Members found before, by when they started: they stay members when they lose their parent. */
  readonly known: Map<number, number>
}

const MIN_POLL_MS = 5
const MAX_POLL_MS = 100
const KILL_MS = 5000
/** Looks at all processes before a process that ends lets go of what it started. */
const LAST_ROUNDS = 5

/** Without it (macOS, some containers) only the process group can be seen. */
const PROC = process.platform === 'linux' && existsSync('/proc/self/stat')

/** The tree of a process that has just been started with `marker`. */
export function createTree(pid: number, marker: string): Tree {
  const startedAt = PROC ? (readStatus(pid)?.startedAt ?? 0) : 0
  return { pid, marker, startedAt, known: new Map() }
}

/** Asks all of `tree` to end, and kills what is left after `graceMs`. */
export async function endTree(tree: Tree, graceMs: number): Promise<void> {
  if (process.platform === 'win32') return endWindowsTree(tree)
  signalTree(tree, 'SIGTERM')
  if (await waitForTree(tree, graceMs)) return
  const deadline = Date.now() + KILL_MS
  // Again and again: what is being killed may be starting others. Nothing outlives this but a
  // process that the system itself cannot end.
  while (signalTree(tree, 'SIGKILL') > 0 && Date.now() < deadline) await sleep(MIN_POLL_MS)
}

/** Kills all of `tree` without waiting for anything: this process is about to end. */
export function killTree(tree: Tree): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', windowsArgs(tree), { windowsHide: true })
    return
  }
  sendSignal(-tree.pid, 'SIGKILL')
  for (let round = 0; round < LAST_ROUNDS; round++) {
    if (signalTree(tree, 'SIGKILL') === 0) return
  }
}

/** Whether all of `tree` has ended within `ms`. */
export async function waitForTree(tree: Tree, ms: number): Promise<boolean> {
  const deadline = Date.now() + ms
  for (let pause = MIN_POLL_MS; ; pause = Math.min(pause * 2, MAX_POLL_MS)) {
    if (countMembers(tree) === 0) return true
    const left = deadline - Date.now()
    if (left <= 0) return false
    await sleep(Math.min(pause, left))
  }
}

function countMembers(tree: Tree): number {
  if (PROC) return findMembers(tree).length
  return process.platform !== 'win32' && sendSignal(-tree.pid, 0) ? 1 : 0
}

function signalTree(tree: Tree, signal: NodeJS.Signals): number {
  if (!PROC) return sendSignal(-tree.pid, signal) ? 1 : 0
  // All are found before the first is told: they are known by their parents.
  const members = findMembers(tree)
  for (const pid of members) sendSignal(pid, signal)
  return members.length
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch {
    // It has ended, or belongs to somebody else by now.
    return false
  }
}

interface ProcessStatus {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  readonly startedAt: number
  readonly live: boolean
}

/**
 * Live processes of the group or the session, with the marker, known, or below such a one. What
 * had left the session, dropped its environment and lost its parent before anybody looked is out
 * of reach without confinement.
 */
function findMembers(tree: Tree): number[] {
  const running = listProcesses()
  const members = new Map<number, number>()
  for (const process of running) {
    if (isMember(tree, process)) members.set(process.pid, process.startedAt)
  }
  for (let before = -1; before < members.size;) {
    before = members.size
    for (const { pid, parent, startedAt } of running) {
      if (members.has(parent)) members.set(pid, startedAt)
    }
  }
  members.delete(process.pid)
  for (const [pid, startedAt] of members) tree.known.set(pid, startedAt)
  return [...members.keys()]
}

function isMember(tree: Tree, { pid, group, session, startedAt }: ProcessStatus): boolean {
  if (group === tree.pid || session === tree.pid) return true
  if (tree.known.get(pid) === startedAt) return true
  // Reading environments is what takes the time, and a descendant cannot be older.
  return startedAt >= tree.startedAt && readProcess(pid, 'environ').includes(tree.marker)
}

function listProcesses(): ProcessStatus[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStatus(Number(name)) ?? [])
    .filter(({ live }) => live)
}

/** Not `live` is one that has ended and that nobody has collected yet. */
function readStatus(pid: number): ProcessStatus | undefined {
  const text = readProcess(pid, 'stat').toString('latin1')
  // The name in parentheses may hold anything, parentheses too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  if (!session) return undefined
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startedAt: Number(fields[19]),
    live: state !== 'Z' && state !== 'X',
  }
}

// Far quicker than readFileSync, and there may be a thousand processes. An environment that is
// larger than this is larger than the system lets it be.
const buffer = Buffer.alloc(8 * 1024 * 1024)

/** The content until the next call, empty for a process that has ended or is another user's. */
function readProcess(pid: number, file: 'stat' | 'environ'): Buffer {
  let fd: number | undefined
  let length = 0
  try {
    fd = openSync(`/proc/${pid}/${file}`, 'r')
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      read = readSync(fd, buffer, length, buffer.length - length, null)
    }
  } catch {
    // It ended meanwhile.
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
  return buffer.subarray(0, length)
}

function windowsArgs({ pid }: Tree): string[] {
  return ['/T', '/F', '/PID', String(pid)]
}

async function endWindowsTree(tree: Tree): Promise<void> {
  // It fails when everything has ended already.
  await promisify(execFile)('taskkill', windowsArgs(tree)).catch(() => {})
}
