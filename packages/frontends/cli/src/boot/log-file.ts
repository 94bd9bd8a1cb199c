import { appendFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LogRecord, LogSink } from '@cordage/core/kernel'
import { makeDirectory } from './make-directory.ts'

const MAX_BYTES = 2 * 1024 * 1024
const KEPT_FILES = 3
const RING = 500

export interface LogFile {
  readonly file: string
  readonly sink: LogSink
  /** The last records, the oldest first, also those that the disk did not take. */
  recent(): readonly LogRecord[]
}

/**
 * A log on the disk and in memory. A few processes may share the file: each record is one append.
 * A disk that refuses costs the record on it, never the run.
 */
export function createLogFile(file: string, redact: (text: string) => string): LogFile {
  const ring: LogRecord[] = []
  let made = false
  const write = (line: string) => {
    if (!made) makeDirectory(dirname(file))
    made = true
    rotate(file, line.length)
    appendFileSync(file, line, { mode: 0o600 })
  }
  return {
    file,
    recent: () => [...ring],
    sink(record) {
      const clean = { ...record, text: redact(record.text) }
      ring.push(clean)
      if (ring.length > RING) ring.shift()
      try {
        write(lineOf(clean))
      } catch {
        // The ring still has it.
      }
    },
  }
}

/** Hands each record to `also` as well. */
export function teeLog(first: LogSink, also: LogSink | undefined): LogSink {
  if (also === undefined) return first
  return (record) => {
    first(record)
    also(record)
  }
}

export function lineOf({ time, level, name, text }: LogRecord): string {
  const at = new Date(time).toISOString()
  return `${at} ${level.padEnd(5)} [${process.pid}] ${name}: ${text.replaceAll('\n', '\n  ')}\n`
}

function rotate(file: string, more: number): void {
  if (sizeOf(file) + more <= MAX_BYTES) return
  for (let n = KEPT_FILES - 1; n >= 0; n--) {
    const from = n === 0 ? file : `${file}.${n}`
    if (sizeOf(from) > 0) renameSync(from, `${file}.${n + 1}`)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
