import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { describe, isHarnessError } from '@cordage/core/error'
import type { ImportPlace } from './import-place.ts'
import type { Imported } from './imported.ts'
import { filesOf, type TranscriptSource } from './source.ts'

/** Brings one transcript in; a failure is part of the answer, so that the others go on. */
export async function importSource(
  place: ImportPlace,
  source: TranscriptSource,
): Promise<Imported> {
  try {
    const sha256 = await hashOf(await filesOf(source))
    return await bring(place, source, sha256).catch((error: unknown) => {
      if (!isHarnessError(error, 'STORE_ID_TAKEN')) throw error
      // Another process has brought it in meanwhile: now it is found.
      return bring(place, source, sha256)
    })
  } catch (error) {
    if (!isHarnessError(error) && !(error instanceof Error && 'errno' in error)) throw error
    const { code, message } = describe(error)
    const nothing = { turns: 0, messages: 0, facts: 0, children: [], left: [], earlier: [] }
    const { path, from } = source
    return { path, from, status: 'failed', ...nothing, error: { code, message } }
  }
}

async function bring(
  place: ImportPlace,
  source: TranscriptSource,
  sha256: string,
): Promise<Imported> {
  if (source.from === 'cordage') {
    return (await import('./cordage.ts')).importCordage(place, source.path, sha256)
  }
  return (await import('./transcript.ts')).importTranscript(place, source, sha256)
}

async function hashOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of files) {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    // Where one ends and the next begins is part of it.
    if (files.length > 1) hash.update('\n\0')
  }
  return hash.digest('hex')
}
