import { fileURLToPath } from 'node:url'
import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { openLibrary } from './library.ts'
import { createProvider } from './provider.ts'
import { script } from './script.ts'

const shipped = fileURLToPath(new URL('../scripts/', import.meta.url))

const config = z.strictObject({
  scripts: z
    .union([z.string(), z.record(z.string(), script)])
    .default({})
    .describe('A folder of YAML or JSON files, or the recorded runs themselves by name.'),
})

export default definePlugin({
  name: 'model-scripted',
  inject: ['models'],
  config,
  apply: (ctx, { scripts }) => {
    const inline = typeof scripts === 'string' ? {} : scripts
    const folders = typeof scripts === 'string' ? [shipped, scripts] : [shipped]
    ctx.models.register(ctx, createProvider(openLibrary(folders, inline)), { order: 1_000 })
  },
})
