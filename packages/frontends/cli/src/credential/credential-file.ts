import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { renameSync, rmSync, writeSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { Document, isMap, LineCounter, parseDocument } from 'yaml'
import { takeLock, type Lock } from '../boot/lock.ts'
import { credentialFileError } from './errors.ts'
import { openSafely } from './open-safely.ts'

export type KeptCredentials = Readonly<Record<string, string>>

/** `credentials.yml` of a home: a mapping of names to values, for its owner alone. */
export function credentialFileOf(home: string): string {
  return join(home, 'credentials.yml')
}

/**
 * Reads the file at each call, and parses it when it has changed. Without a file there are none;
 * throws `CREDENTIAL_FILE_UNSAFE` and `CREDENTIAL_FILE_INVALID`.
 */
export function credentialReader(home: string): () => KeptCredentials {
  const file = credentialFileOf(home)
  let known: { readonly version: string; readonly kept: KeptCredentials } | undefined
  return () => {
    const read = openSafely(file, (fd, stat) => {
      const version = versionOf(stat)
      if (known?.version === version) return known
      return { version, kept: valuesOf(file, parse(file, readFileSync(fd, 'utf8'))) }
    })
    known = read
    return read?.kept ?? {}
  }
}

/** A change takes a few milliseconds; whoever has the lock for longer is stuck. */
const BUSY_MS = 5_000

/**
 * Keeps `value` under `name`; without a value takes the name out. Comments survive, and so does
 * what somebody else changes at the same time. Throws `CREDENTIAL_FILE_BUSY` and as the reader.
 */
export function changeCredential(home: string, name: string, value: string | undefined): void {
  const file = credentialFileOf(home)
  const lock = waitForLock(file)
  try {
    const text = openSafely(file, (fd) => readFileSync(fd, 'utf8')) ?? ''
    const document = parse(file, text)
    valuesOf(file, document)
    if (value === undefined) document.delete(name)
    else document.set(name, value)
    replace(file, document.toString({ lineWidth: 0 }))
  } finally {
    lock.release()
  }
}

function waitForLock(file: string): Lock {
  for (const until = Date.now() + BUSY_MS; ;) {
    const lock = takeLock(`${file}.lock`)
    if (!('busy' in lock)) return lock
    if (Date.now() > until) {
      throw credentialFileError('CREDENTIAL_FILE_BUSY', { file, pid: lock.busy })
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

function parse(file: string, text: string): Document {
  const lines = new LineCounter()
  // In this schema everything is a string: a key may look like a number. Pretty errors would
  // quote the line, and with it the secret.
  const options = { schema: 'failsafe', prettyErrors: false, logLevel: 'error' } as const
  const document = parseDocument(text, { ...options, lineCounter: lines })
  const [error] = document.errors
  if (error) throw invalid(file, lines.linePos(error.pos[0]).line, 'this is not YAML')
  if (isMap(document.contents)) return document
  if (document.toJS() !== '' && document.toJS() !== null) {
    throw invalid(file, 1, 'this is not a mapping')
  }
  const empty = new Document({}, { schema: 'failsafe' })
  empty.commentBefore = document.commentBefore ?? document.comment
  return empty
}

function valuesOf(file: string, document: Document): KeptCredentials {
  const values = document.toJS() as Record<string, unknown>
  const wrong = Object.entries(values).find(([, value]) => typeof value !== 'string')
  if (wrong !== undefined) throw invalid(file, 1, `the value of ${wrong[0]} is not a text`)
  return values as KeptCredentials
}

function invalid(file: string, line: number, reason: string): Error {
  return credentialFileError('CREDENTIAL_FILE_INVALID', { file, line, reason })
}

function versionOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
}

/** A reader sees the old file or the new one, and neither was ever open to others. */
function replace(file: string, text: string): void {
  const fresh = `${file}.new`
  // Of somebody who was killed.
  rmSync(fresh, { force: true })
  try {
    const fd = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(fd, text)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
  }
}
