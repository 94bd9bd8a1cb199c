import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { projectOf } from '@cordage/core/environment'
import type { RootContext } from '@cordage/core/kernel'
import type { ImportFormat } from '../import/entry.ts'
import { importedText, type Imported } from '../import/imported.ts'
import type { ImportPlace } from '../import/import-place.ts'
import { importSource } from '../import/import-source.ts'
import { transcriptsAt } from '../import/recognise.ts'
import { jsonText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { storeOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

export interface ImportOptions extends ListOptions {
  readonly from?: ImportFormat
  readonly project?: string
}

/** Brings transcripts in, each as far as it can be carried, and says what could not be. */
export async function importSessions(given: string, options: ImportOptions): Promise<number> {
  const sources = await transcriptsAt(given, options.from)
  return withHarness(options, async ({ ctx }) => {
    const place = await placeOf(ctx, options)
    const results: Imported[] = []
    for (const source of sources) {
      const result = await importSource(place, source)
      results.push(result)
      if (options.output === 'text') process.stdout.write(importedText(result))
    }
    if (options.output === 'json') process.stdout.write(jsonText(results))
    return results.some(({ status }) => status === 'failed') ? 1 : 0
  })
}

async function placeOf(ctx: RootContext, { project: given }: ImportOptions): Promise<ImportPlace> {
  const store = storeOf(ctx)
  const sessions = ctx.get('sessions')
  if (!sessions) throw cliError('USAGE', { reason: 'This profile keeps no sessions.' })
  const fs = ctx.get('fs')
  const projectFrom = async (directory: string) => {
    if (!existsSync(directory)) return directory
    const real = realpathSync(directory)
    return fs ? projectOf(fs, real) : real
  }
  const project = given === undefined ? undefined : await projectFrom(resolve(given))
  return { store, sessions, project, projectOf: projectFrom, cwd: process.cwd() }
}
