import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { z } from 'zod'
import type { Checkpoints } from './checkpoints.ts'
import { watchCommands } from './commands.ts'
import { checkpointFile, checkpointRestored, checkpointRestoring } from './events.ts'
import { keepChanges } from './keep.ts'

export type { Checkpoints, FilePlan, RewindPoint } from './checkpoints.ts'

const config = z.strictObject({
  maxFileBytes: z
    .number()
    .int()
    .min(0)
    .default(8 * 1024 * 1024)
    .describe('Larger files are not kept, and a rewind says so.'),
})

type CheckpointConfig = z.infer<typeof config>

/** Keeps what files held before an agent changed them, and puts them back. */
const plugin: Plugin<CheckpointConfig> = definePlugin({
  name: 'policy-checkpoint',
  provides: ['checkpoints'],
  inject: ['sessions', 'fs', 'policy'],
  config,
  apply(ctx, { maxFileBytes }) {
    ctx.sessions.events.register(ctx, checkpointFile)
    ctx.sessions.events.register(ctx, checkpointRestoring)
    ctx.sessions.events.register(ctx, checkpointRestored)
    keepChanges(ctx, maxFileBytes)
    watchCommands(ctx, maxFileBytes)
    const checkpoints: Checkpoints = {
      // Only who rewinds pays for it.
      async plan(session, to) {
        const { planRestore } = await import('./restore.ts')
        return planRestore(ctx, session, to, maxFileBytes)
      },
      async restore(session, to, { force = false } = {}) {
        const { restoreFiles } = await import('./restore.ts')
        return restoreFiles(ctx, session, to, { maxFileBytes, force })
      },
    }
    own(ctx, 'checkpoints', checkpoints)
  },
})

export default plugin
