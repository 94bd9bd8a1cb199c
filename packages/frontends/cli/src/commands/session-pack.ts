import type { RootContext } from '@cordage/core/kernel'
import { isHarnessError } from '@cordage/core/error'
import { jsonText, sizeText, tableText } from '../print/table.ts'
import type { ListOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { storeOf, upkeepOf } from './sessions.ts'
import { withHarness } from './with-harness.ts'

interface PackedSession {
  readonly id: string
  readonly before: number
  readonly after: number
}

/** Packs the sessions given, or all that nobody owns and that are whole. */
export async function packSessions(given: readonly string[], options: ListOptions) {
  return withHarness(options, async ({ ctx }) => {
    const upkeep = upkeepOf(ctx)
    const packed: PackedSession[] = []
    for (const id of given.length > 0 ? await completed(ctx, given) : await everyId(ctx)) {
      try {
        packed.push({ id, ...(await upkeep.pack(id)) })
      } catch (error) {
        const passable =
          isHarnessError(error, 'SESSION_BUSY') || isHarnessError(error, 'STORE_DAMAGED')
        if (given.length > 0 || !passable) throw error
        process.stderr.write(`left out: ${error.message}\n`)
      }
    }
    if (options.output === 'json') process.stdout.write(jsonText(packed))
    else process.stdout.write(tableText([...packed, totalOf(packed)].map(line)))
    return 0
  })
}

async function completed(ctx: RootContext, given: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const id of given) ids.push(await completeId(ctx, id))
  return ids
}

async function everyId(ctx: RootContext): Promise<string[]> {
  const all = await storeOf(ctx).list({ children: true, archived: true })
  return all.map(({ header }) => header.id)
}

function totalOf(packed: readonly PackedSession[]): PackedSession {
  const sum = (of: 'before' | 'after') => packed.reduce((total, one) => total + one[of], 0)
  return { id: 'total', before: sum('before'), after: sum('after') }
}

function line({ id, before, after }: PackedSession): string[] {
  return [id, sizeText(before), '->', sizeText(after)]
}
