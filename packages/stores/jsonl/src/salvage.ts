import { hash } from 'node:crypto'
import { join } from 'node:path'
import { isHarnessError } from '@cordage/core/error'
import type { Fact } from '@cordage/core/session'
import type { Io, Missing, Salvage } from '@cordage/core/store'
import { type Chosen, chooseBatches } from './choose.ts'
import { inflate } from './facts.ts'
import { decodeFrame } from './frame.ts'
import { errorCode, readWhole } from './io.ts'
import { type FormatStep, formatSteps, headerIn, stepsFrom } from './format-steps.ts'
import type { JsonlStoreOptions } from './options.ts'
import { listSegments } from './segment.ts'
import { surveyLog } from './survey.ts'

/** All that can still be read of a log. Changes nothing. Throws `STORE_FORMAT_NEWER`. */
export async function salvageLog(
  { io, steps = formatSteps }: JsonlStoreOptions,
  directory: string,
  id: string,
): Promise<Salvage> {
  const survey = await surveyLog(io, id, await listSegments(io, directory))
  const { batches, missing } = chooseBatches(survey)
  const lost: Missing[] = []
  const lostBlobs: string[] = []
  return {
    header: headerIn(survey.head, steps),
    facts: factsIn({ io, steps, id }, batches, lost),
    get missing() {
      return [...missing, ...lost].sort((a, b) => a.from - b.from)
    },
    blobs: blobsIn(io, join(directory, 'blobs'), lostBlobs),
    lostBlobs,
  }
}

interface Source {
  readonly io: Io
  readonly steps: readonly FormatStep[]
  readonly id: string
}

async function* factsIn(
  { io, steps, id }: Source,
  batches: readonly Chosen[],
  lost: Missing[],
): AsyncGenerator<Fact> {
  let path = ''
  let bytes: Buffer = Buffer.alloc(0)
  for (const batch of batches) {
    const { file, limit, meta } = batch
    try {
      if (path !== file.path) bytes = await readWhole(io, file.path)
      path = file.path
      const facts = await factsOfBatch(bytes, batch)
      const taken = stepsFrom(steps, meta.v, id)
      for (const fact of facts) {
        if (fact.seq < limit) yield taken.reduce((before, step) => step.fact(before), fact)
      }
    } catch (error) {
      // What a consumer throws does not come here: it ends the generator.
      const words = isHarnessError(error) ? error.message : `it cannot be read (${String(error)})`
      lost.push({ from: meta.from, to: Math.min(meta.to, limit), reason: words })
    }
  }
}

async function factsOfBatch(bytes: Buffer, { file, start, meta }: Chosen): Promise<Fact[]> {
  const frame = decodeFrame(bytes, start, file.encoding)
  if ('problem' in frame) throw new TypeError(frame.reason)
  const text = await inflate(bytes, [frame], file.encoding)
  const lines = text.toString().split('\n').slice(0, -1)
  const facts = lines.map((line) => JSON.parse(line) as Fact)
  const inPlace = facts.every(({ seq }, index) => seq === meta.from + index)
  if (!inPlace || facts.length !== meta.to - meta.from) throw new TypeError('other facts than said')
  return facts
}

async function* blobsIn(io: Io, folder: string, lost: string[]): AsyncGenerator<Uint8Array> {
  const entries = await io.list(folder).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  })
  for (const { name } of entries.filter(({ name }) => /^[0-9a-f]{64}$/.test(name))) {
    const bytes = await readWhole(io, join(folder, name)).catch(() => undefined)
    if (bytes && hash('sha256', bytes, 'hex') === name) yield bytes
    else lost.push(name)
  }
}
