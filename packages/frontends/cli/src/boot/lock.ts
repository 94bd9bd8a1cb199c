import { randomUUID } from 'node:crypto'
import { closeSync, linkSync, openSync, readFileSync, renameSync } from 'node:fs'
import { rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from './make-directory.ts'

/** Whoever made it writes its name right behind, so that an empty one is new, or was never more. */
const UNNAMED_MS = 2_000
/** A number of a process is given again: one that stopped touching its lock is not the same. */
const UNTOUCHED_MS = 60_000
const TOUCH_MS = 5_000

/** A file that says who may change what stands beside it. */
export interface Lock {
  /** Somebody may have taken it from a process that was asleep for long. */
  isHeld(): boolean
  release(): void
}

/** Takes the lock, or gives the number of the process that has it. A dead one's is taken away. */
export function takeLock(file: string): Lock | { readonly busy: number } {
  for (;;) {
    // Who releases the last lock of a folder may take the folder away too.
    makeDirectory(dirname(file))
    const name = `${process.pid} ${randomUUID()}`
    if (create(file, name)) return held(file, name)
    const owner = read(file)
    if (owner === undefined) continue
    if (isAlive(owner)) return { busy: owner.pid }
    takeAway(file, owner.name)
  }
}

const mine = new Set<string>()

function held(file: string, name: string): Lock {
  mine.add(name)
  const isHeld = () => read(file)?.name === name
  const timer = setInterval(() => {
    const now = Date.now() / 1000
    if (isHeld()) utimesSync(file, now, now)
  }, TOUCH_MS).unref()
  return {
    isHeld,
    release() {
      clearInterval(timer)
      mine.delete(name)
      if (isHeld()) rmSync(file, { force: true })
    },
  }
}

function create(file: string, name: string): boolean {
  let fd: number
  try {
    fd = openSync(file, 'wx', 0o600)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EEXIST' || code === 'ENOENT') return false
    throw error
  }
  try {
    writeSync(fd, name)
  } finally {
    closeSync(fd)
  }
  return true
}

interface Owner {
  readonly name: string
  readonly pid: number
  readonly untouchedMs: number
}

function read(file: string): Owner | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  try {
    const name = readFileSync(file, 'utf8')
    return { name, pid: Number.parseInt(name, 10), untouchedMs: Date.now() - stat.mtimeMs }
  } catch {
    // It was released meanwhile.
    return undefined
  }
}

function isAlive({ name, pid, untouchedMs }: Owner): boolean {
  if (name === '') return untouchedMs < UNNAMED_MS
  if (!(pid > 0) || untouchedMs > UNTOUCHED_MS) return false
  // In a container each process may have the number that the one before it had.
  if (pid === process.pid) return mine.has(name)
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Two may find the same dead owner: what was moved away is put back when it is a living one's. */
function takeAway(file: string, name: string): void {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
  } catch {
    // Somebody else was quicker.
    return
  }
  try {
    if (readFileSync(aside, 'utf8') !== name) linkSync(aside, file)
  } catch {
    // A third one has taken it; the living one finds that it holds the lock no more.
  } finally {
    rmSync(aside, { force: true })
  }
}
