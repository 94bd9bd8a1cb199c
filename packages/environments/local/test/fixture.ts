import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { OutputChunk } from '@cordage/core/environment'

/** An empty directory that is gone after the test. */
export async function makeDirectory(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'cordage-env-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'no error'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

export async function collect(output: AsyncIterable<OutputChunk>) {
  const text = { stdout: '', stderr: '' }
  for await (const chunk of output) text[chunk.stream] += Buffer.from(chunk.bytes).toString()
  return text
}

export const never = new AbortController().signal
