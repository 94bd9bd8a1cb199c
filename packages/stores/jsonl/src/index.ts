import { join } from 'node:path'
import { definePlugin, own } from '@cordage/core/kernel'
import { sessionRemoval } from '@cordage/core/store'
import { z } from 'zod'
import { ThreadCatalog } from './catalog.ts'
import { nodeIo } from './node-io.ts'
import { createJsonlStore } from './store.ts'

export { ThreadCatalog, type Catalog, type CatalogOptions } from './catalog.ts'
export { nodeIo } from './node-io.ts'
export type { JsonlStoreOptions } from './options.ts'
export { createJsonlStore, type JsonlStore } from './store.ts'

const config = z.strictObject({
  directory: z
    .string()
    .optional()
    .describe('Where sessions are, absolute; `sessions` in the home unless given.'),
  segmentMaxBytes: z
    .number()
    .int()
    .positive()
    .default(4 * 1024 * 1024)
    .describe('A segment that has grown to this is not appended to any more.'),
  compression: z
    .enum(['zstd', 'none'])
    .default('zstd')
    .describe('`none` writes plain JSON lines; both kinds are read, whatever is set here.'),
})

export default definePlugin({
  name: '@cordage/store-jsonl',
  provides: ['store'],
  inject: ['host'],
  config,
  apply(ctx, { directory = join(ctx.host.home, 'sessions'), ...options }) {
    const catalog = new ThreadCatalog({ root: directory })
    const removing = (id: string, remove: () => Promise<boolean>) =>
      sessionRemoval.run(ctx, { id }, remove)
    const store = createJsonlStore({ ...options, directory, io: nodeIo, catalog, removing })
    own(ctx, 'store', store, () => store.close())
  },
})
