import { definePlugin } from '@cordage/core/kernel'
import { defineTool, escapeFileName, type ToolRun } from '@cordage/core/tool'
import { relative, resolve, sep } from 'node:path'
import { z } from 'zod'

const config = z.strictObject({
  maxResults: z.number().int().min(1).default(100).describe('Paths of one call, the newest first.'),
  maxScanned: z
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('How many paths are compared by time; beyond that the newest may be missing.'),
})

type GlobConfig = z.output<typeof config>

const parameters = z.strictObject({ pattern: z.string().min(1), path: z.string().optional() })

type Arguments = z.output<typeof parameters>

export interface GlobValue {
  /** Newest first; relative to the current directory where they are below it. */
  readonly files: readonly string[]
  readonly total: number
  /** Why there may be more than `total`. */
  readonly incomplete: readonly string[]
}

export default definePlugin({
  name: '@cordage/tool-glob',
  inject: ['tools'],
  config,
  apply: (ctx, settings) => {
    ctx.tools.register(ctx, globTool(settings))
  },
})

function globTool(settings: GlobConfig) {
  return defineTool<Arguments, GlobValue>({
    name: 'glob',
    description:
      'Finds files by name, as in `src/**/*.ts`, newest first, without ignored ones. Default path: ' +
      'the current directory.',
    parameters,
    effects: ({ path = '.' }, { cwd }) => [{ kind: 'fs:read', path: resolve(cwd, path) }],
    execute: (args, run) => findFiles(args, run, settings),
    render: renderFiles,
    concurrent: () => true,
    idempotent: true,
    title: ({ pattern }) => `glob ${pattern}`,
  })
}

async function findFiles(
  { pattern, path = '.' }: Arguments,
  run: ToolRun,
  { maxResults, maxScanned }: GlobConfig,
): Promise<GlobValue> {
  const query = { pattern, maxResults: maxScanned }
  const { items, incomplete } = await run.fs.glob(path, query)
  const newest = [...items].sort((a, b) => b.modifiedAt - a.modifiedAt)
  const files = newest.slice(0, maxResults).map((item) => shorten(item.path, run.cwd))
  return { files, total: items.length, incomplete }
}

function shorten(path: string, cwd: string): string {
  const short = relative(cwd, path)
  return short === '..' || short.startsWith(`..${sep}`) ? path : short
}

function renderFiles({ files, total, incomplete }: GlobValue): string {
  const shown = files.length < total ? `, the newest ${files.length}` : ''
  const title =
    total === 0 ? 'No files found' : `${total} ${total === 1 ? 'file' : 'files'}${shown}`
  const gaps = incomplete.map((reason) => `Incomplete: ${reason}`)
  return [title, ...gaps, ...files.map(escapeFileName)].join('\n')
}
