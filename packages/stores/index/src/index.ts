import { existsSync } from 'node:fs'
import { extname, isAbsolute, join } from 'node:path'
import {
  definePlugin,
  describeFailure,
  log,
  own,
  rowOf,
  type PluginContext,
} from '@cordage/core/kernel'
import { request } from '@cordage/core/loop'
import { sessionRemoval } from '@cordage/core/store'
import { z } from 'zod'
import { Following } from './following.ts'
import { removeIndex } from './index-remove.ts'
import { IndexThread } from './index-thread.ts'
import { QueryOnDemand } from './query-on-demand.ts'

const chars = z.number().int().min(100)

const config = z.strictObject({
  openAt: z
    .enum(['startup', 'first-search', 'never'])
    .default('first-search')
    .describe('`startup` begins to index after the first answer; `never` refuses every search.'),
  path: z
    .string()
    .optional()
    .describe('The file, absolute, or `:memory:`; `search.db` beside the sessions unless given.'),
  maxWaitMs: z
    .number()
    .int()
    .min(0)
    .default(10_000)
    .describe('How long a search waits for what is not in the index yet.'),
  maxTextChars: chars.default(65_536).describe('Of a message, so many characters are searched.'),
  maxResultChars: chars.default(8_192).describe('Of the result of a tool, so many.'),
  reasoning: z.boolean().default(false).describe('What models thought is searched, too.'),
  ignoredTools: z
    .array(z.string())
    .default(['session_search', 'session_event_search', 'session_trace', 'session_event_read'])
    .describe('Tools whose calls and results are copies of what is found anyway.'),
})

type IndexConfig = z.output<typeof config>

/** The first answer comes first, and a run that is over by then has nothing to wait for. */
const restMs = 1_000

export default definePlugin({
  name: '@cordage/store-index',
  provides: ['sessionQuery'],
  inject: ['store'],
  config,
  apply(ctx, settings) {
    const path = settings.path ?? pathBeside(ctx.store.location)
    const query = createQuery(ctx, path, settings)
    own(ctx, 'sessionQuery', query, () => query.close())
    sessionRemoval.use(ctx, async ({ id }, next) => {
      // Before, so that a process that dies here leaves nothing; after, for who searched meanwhile.
      await forget(query, path, id)
      try {
        return await next()
      } finally {
        await forget(query, path, id)
      }
    })
    if (settings.openAt === 'startup') openAfterAnswer(ctx, query)
  },
})

// Sources run as they are; the packed product has the same file next to this one.
const worker = new URL(`./index-worker${extname(import.meta.url)}`, import.meta.url)

/** A store that keeps nothing on the disk has no text there. */
function pathBeside(location: string): string {
  return isAbsolute(location) ? join(location, 'search.db') : ':memory:'
}

function createQuery(
  ctx: PluginContext<'store'>,
  path: string,
  { openAt, maxWaitMs, maxTextChars, maxResultChars, reasoning, ignoredTools }: IndexConfig,
): QueryOnDemand {
  return new QueryOnDemand({
    store: ctx.store,
    thread: new IndexThread(path, worker),
    path,
    row: rowOf(ctx),
    enabled: openAt !== 'never',
    maxWaitMs,
    extract: { maxTextChars, maxResultChars, reasoning, ignoredTools },
    following: new Following(ctx),
    open: () => ctx.get('sessions')?.list() ?? [],
    warn: (message, fields) => log(ctx, 'warn', message, fields),
  })
}

async function forget(query: QueryOnDemand, path: string, id: string): Promise<void> {
  if (path !== ':memory:' && !existsSync(path)) return
  try {
    await query.forget(id)
  } catch {
    // Without a thread the words cannot be taken out: they are found again in the other sessions.
    removeIndex(path)
  }
}

function openAfterAnswer(ctx: PluginContext<'store'>, query: QueryOnDemand): void {
  let timer: NodeJS.Timeout | undefined
  ctx.effect(() => () => clearTimeout(timer))
  request.use(ctx, async (_, next) => {
    const answer = await next()
    timer ??= setTimeout(() => void open(ctx, query), restMs).unref()
    return answer
  })
}

async function open(ctx: PluginContext<'store'>, query: QueryOnDemand): Promise<void> {
  try {
    await query.catchUp()
  } catch (error) {
    log(ctx, 'warn', 'indexing sessions failed', { error: describeFailure(error) })
  }
}
