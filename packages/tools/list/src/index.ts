import { definePlugin } from '@cordage/core/kernel'
import { defineTool, escapeFileName } from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'
import { walk, type ListedEntry, type Listing } from './walk.ts'

const config = z.strictObject({
  depth: z.number().int().min(1).default(2).describe('Levels, unless the call says otherwise.'),
  maxEntries: z.number().int().min(1).default(400).describe('Entries of one call.'),
  maxScanned: z
    .number()
    .int()
    .min(1)
    .default(20_000)
    .describe('How many files are looked at to learn what the ignore files hide.'),
})

type ListConfig = z.output<typeof config>

const parameters = z.strictObject({
  path: z.string().optional(),
  depth: z.number().int().min(1).max(10).optional(),
})

type Arguments = z.output<typeof parameters>

export default definePlugin({
  name: '@cordage/tool-list',
  inject: ['tools'],
  config,
  apply: (ctx, settings) => {
    ctx.tools.register(ctx, listTool(settings))
  },
})

function listTool(settings: ListConfig) {
  return defineTool<Arguments, Listing>({
    name: 'list',
    description:
      `Shows a directory as a tree, without ignored files. Default: the current directory, depth ` +
      `${settings.depth}.`,
    parameters,
    effects: ({ path = '.' }, { cwd }) => [{ kind: 'fs:read', path: resolve(cwd, path) }],
    execute: ({ path = '.', depth = settings.depth }, run) => {
      return walk(path, { ...settings, depth }, run)
    },
    render: renderListing,
    concurrent: () => true,
    idempotent: true,
    title: ({ path = '.' }) => `list ${path}`,
  })
}

function renderListing({ path, entries, truncated, incomplete }: Listing): string {
  const cut = truncated ? `, the first ${entries.length} entries; list a part of it for more` : ''
  const gaps = incomplete.map((reason) => `Incomplete: ${reason}`)
  const none = entries.length === 0 ? [`(nothing that is not ignored)`] : []
  const title = `${escapeFileName(path)}/${cut}`
  return [title, ...gaps, ...none, ...entries.map(renderEntry)].join('\n')
}

const marks = { file: '', directory: '/', symlink: '@', other: '|' }

function renderEntry({ depth, name, kind }: ListedEntry): string {
  return `${'  '.repeat(depth)}${escapeFileName(name)}${marks[kind]}`
}
