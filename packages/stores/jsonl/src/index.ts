import { join } from 'node:path'
import { definePlugin, own } from '@cordage/core/kernel'
import { z } from 'zod'
import { nodeIo } from './node-io.ts'
import { createJsonlStore } from './store.ts'

export type { Io, IoFile, IoKind, IoLock, IoStat } from './io.ts'
export { nodeIo } from './node-io.ts'
export type { JsonlStoreOptions } from './options.ts'
export { createJsonlStore, type JsonlStore } from './store.ts'

const config = z.strictObject({
  /** Absolute; `sessions` in the harness home unless given. */
  directory: z.string().optional(),
  /** A segment that has grown to this is not appended to any more. */
  segmentMaxBytes: z
    .number()
    .int()
    .positive()
    .default(4 * 1024 * 1024),
  /** `none` writes plain JSON lines; both kinds are read, whatever is set here. */
  compression: z.enum(['zstd', 'none']).default('zstd'),
})

export default definePlugin({
  name: '@cordage/store-jsonl',
  provides: ['store'],
  inject: ['host'],
  config,
  apply(ctx, { directory = join(ctx.host.home, 'sessions'), ...options }) {
    const store = createJsonlStore({ ...options, directory, io: nodeIo })
    own(ctx, 'store', store, () => store.close())
  },
})
