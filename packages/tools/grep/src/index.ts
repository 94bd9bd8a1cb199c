import { definePlugin } from '@cordage/core/kernel'
import { defineTool, type ToolRun } from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'
import { countByFile, pageOf } from './page.ts'
import { renderFound, type GrepValue } from './render.ts'

const config = z.strictObject({
  headLimit: z
    .number()
    .int()
    .min(1)
    .default(100)
    .describe('Entries of one call, unless it says otherwise.'),
  maxMatches: z
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('Matching lines at most, before paging; counts beyond are not exact.'),
  // Stays under what the pipeline shows of a result, so that a page is never cut again.
  maxChars: z.number().int().min(1_000).default(28_000).describe('Characters of one call.'),
})

type GrepConfig = z.output<typeof config>

const lines = z.number().int().min(0).max(100).optional()

const parameters = z.strictObject({
  pattern: z.string().min(1).describe('Rust regular expression'),
  path: z.string().optional(),
  glob: z.string().optional(),
  type: z.string().optional().describe('ts, py, …'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional(),
  ignore_case: z.boolean().optional(),
  context: lines,
  before: lines,
  after: lines,
  head_limit: z.number().int().min(1).optional(),
  offset: z.number().int().min(0).optional(),
  multiline: z.boolean().optional(),
})

export type GrepArguments = z.output<typeof parameters>

export default definePlugin({
  name: '@cordage/tool-grep',
  inject: ['tools'],
  config,
  apply: (ctx, settings) => {
    ctx.tools.register(ctx, grepTool(settings))
  },
})

function grepTool(settings: GrepConfig) {
  return defineTool<GrepArguments, GrepValue>({
    name: 'grep',
    description:
      'Searches file contents, without ignored files. output_mode: content (default), ' +
      `files_with_matches or count. head_limit (${settings.headLimit}) and offset page through ` +
      'the entries.',
    parameters,
    effects: ({ path = '.' }, { cwd }) => [{ kind: 'fs:read', path: resolve(cwd, path) }],
    execute: (args, run) => search(args, run, settings),
    render: (value) => renderFound(value),
    concurrent: () => true,
    idempotent: true,
    title: ({ pattern }) => `grep ${pattern}`,
  })
}

async function search(args: GrepArguments, run: ToolRun, settings: GrepConfig): Promise<GrepValue> {
  const { output_mode: mode = 'content', head_limit: limit = settings.headLimit, offset = 0 } = args
  const found = await run.fs.grep(args.path ?? '.', queryOf(args, mode, settings))
  const page = { offset, limit, cwd: run.cwd, maxChars: settings.maxChars }
  const matches = found.items.filter((line) => line.match).length
  const common = { offset, matches, incomplete: found.incomplete }
  if (mode === 'content') return { mode, ...common, ...pageOf(found.items, page) }
  const counts = countByFile(found.items, run.cwd)
  return { mode, ...common, files: counts.slice(offset, offset + limit), total: counts.length }
}

function queryOf(args: GrepArguments, mode: string, { maxMatches }: GrepConfig) {
  const { pattern, glob, type, ignore_case, multiline, context = 0 } = args
  const content = mode === 'content'
  return {
    pattern,
    maxResults: maxMatches,
    before: content ? (args.before ?? context) : 0,
    after: content ? (args.after ?? context) : 0,
    ...(glob === undefined ? {} : { glob }),
    ...(type === undefined ? {} : { fileType: type }),
    ...(ignore_case === undefined ? {} : { ignoreCase: ignore_case }),
    ...(multiline === undefined ? {} : { multiline }),
  }
}
