import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** The variable whose value every descendant of a started process inherits. */
export const MARKER = 'CORDAGE_RUN'

/** A process that was started as the leader of its own session, and everything it started. */
export interface Tree {
  readonly pid: number
  readonly marker: string
  /** Members found before, by when they started: they stay members when they lose their parent. */
  readonly known: Map<number, string>
}

const MIN_POLL_MS = 5
const MAX_POLL_MS = 100
const KILL_MS = 5000

/** Without it (macOS, some containers) only the process group can be seen. */
const PROC = process.platform === 'linux' && existsSync('/proc/self/stat')

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
  readonly startedAt: string
}

/**
 * Live processes of the group or the session, with the marker, known, or below such a one. What
 * had left the session, dropped its environment and lost its parent before anybody looked is out
 * of reach without confinement.
 */
function findMembers(tree: Tree): number[] {
  const running = listProcesses()
  const members = new Map<number, string>()
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
  return tree.known.get(pid) === startedAt || hasMarker(pid, tree.marker)
}

function listProcesses(): ProcessStatus[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStatus(Number(name)) ?? [])
}

/** Undefined for one that has ended, also while nobody has collected it yet. */
function readStatus(pid: number): ProcessStatus | undefined {
  const text = readProcess(pid, 'stat')
  // The name in parentheses may hold anything, parentheses too.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const startedAt = fields[19]
  if (!startedAt || state === 'Z' || state === 'X') return undefined
  const ids = { parent: Number(parent), group: Number(group), session: Number(session) }
  return { pid, ...ids, startedAt }
}

function hasMarker(pid: number, marker: string): boolean {
  return readProcess(pid, 'environ').includes(marker)
}

function readProcess(pid: number, file: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    // It has ended, or is another user's.
    return ''
  }
}

async function endWindowsTree({ pid }: Tree): Promise<void> {
  // It fails when everything has ended already.
  await promisify(execFile)('taskkill', ['/T', '/F', '/PID', String(pid)]).catch(() => {})
}
