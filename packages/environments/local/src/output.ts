import type { Readable } from 'node:stream'
import type { OutputChunk } from '@cordage/core/environment'
import { assert } from '@cordage/core/kernel'

/** Held for a slow reader before the process has to wait. */
const MAX_QUEUED_BYTES = 256 * 1024
/** Taken from the pipes after the end, which hold less than this unless somebody still writes. */
const MAX_LEFT_BYTES = 1024 * 1024

export interface Output {
  readonly chunks: AsyncIterable<OutputChunk>
  /** Takes what the pipes still hold, for `ms` at most, and ends `chunks` after it. */
  finish(ms: number): Promise<void>
}

/** Both streams in the order of arrival, as fast as they are read. */
export function createOutput(stdout: Readable, stderr: Readable): Output {
  const streams = [stdout, stderr]
  const queue: OutputChunk[] = []
  let queued = 0
  let left: number | undefined
  let ended = false
  let discarding = false
  let wake: (() => void) | undefined

  const update = () => {
    const full = left === undefined && !discarding && queued >= MAX_QUEUED_BYTES
    for (const stream of streams)
      if (full) stream.pause()
      else stream.resume()
  }
  const closed = (async () => {
    await Promise.all(
      streams.map((stream) => new Promise((resolve) => stream.once('close', resolve))),
    )
    ended = true
    wake?.()
  })()
  const take = (stream: OutputChunk['stream'], bytes: Buffer) => {
    if (left !== undefined && (left -= bytes.length) < 0) {
      for (const stream of streams) stream.destroy()
    }
    if (discarding) return
    queue.push({ stream, bytes })
    queued += bytes.length
    update()
    wake?.()
  }
  stdout.on('data', (bytes: Buffer) => take('stdout', bytes))
  stderr.on('data', (bytes: Buffer) => take('stderr', bytes))
  // A pipe that breaks ends like any other.
  for (const stream of streams) stream.on('error', () => {})
  let read = false
  async function* iterate(): AsyncGenerator<OutputChunk, void, undefined> {
    assert(!read, 'the output of a process is read once')
    read = true
    try {
      for (;;) {
        const next = queue.shift()
        if (next) {
          queued -= next.bytes.length
          update()
          yield next
        } else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      discarding = true
      queue.length = 0
      update()
    }
  }

  return {
    chunks: { [Symbol.asyncIterator]: iterate },
    finish: async (ms) => {
      left = MAX_LEFT_BYTES
      update()
      const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), ms)
      await closed
      clearTimeout(timer)
    },
  }
}
