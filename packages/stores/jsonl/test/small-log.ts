import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HarnessError } from '@cordage/core/error'
import { factsFrom, headerFor } from '@cordage/testkit'
import { expect } from 'vitest'
import { decodeFrame, type Frame } from '../src/frame.ts'
import type { JsonlStore } from '../src/store.ts'
import { type Fixture, makeFixture } from './fixtures.ts'

/** Header and three batches: facts 0, 1, 2 and 3 to 4. */
export async function smallLog(
  compression: 'zstd' | 'none',
): Promise<{ bytes: Buffer; frames: readonly Frame[] }> {
  const source = await makeFixture({ compression })
  const log = await source.store.create(headerFor('small'))
  await log.append(factsFrom(0, 1), { sync: true })
  await log.append(factsFrom(1, 1), { sync: true })
  await log.append(factsFrom(2, 2), { sync: true })
  await log.close()
  const bytes = await readFile((await source.logFiles('small'))[0] ?? '')
  await source.dispose()
  const frames: Frame[] = []
  while ((frames.at(-1)?.end ?? 0) < bytes.length) {
    const frame = decodeFrame(bytes, frames.at(-1)?.end ?? 0, compression)
    if ('problem' in frame) throw new Error(frame.reason)
    frames.push(frame)
  }
  return { bytes, frames }
}

let plantings = 0

/** A root of its own with these bytes as the only segment of session `small`. */
export async function planted(
  fixture: Fixture,
  compression: 'zstd' | 'none',
  bytes: Buffer,
): Promise<Planted> {
  const directory = join(fixture.root, `planted-${plantings++}`)
  const folder = join(directory, 'small')
  await mkdir(join(folder, 'log'), { recursive: true })
  const file = join(folder, 'log', compression === 'zstd' ? '000001.jsonl.zst' : '000001.jsonl')
  await writeFile(file, bytes)
  return { store: fixture.another({ directory, compression }), folder, file }
}

interface Planted {
  readonly store: JsonlStore
  readonly folder: string
  readonly file: string
}

export function flip(bytes: Buffer, at: number, mask = 4): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ mask
  return copy
}

export function codeOfError(error: unknown): string {
  return (error as HarnessError).code
}

export async function expectAside(session: string, bytes: Buffer | undefined): Promise<void> {
  const folder = join(session, 'aside')
  const names = await readdir(folder).catch(() => [])
  const kept = await Promise.all(names.map((name) => readFile(join(folder, name))))
  expect(kept).toEqual(bytes ? [bytes] : [])
}
