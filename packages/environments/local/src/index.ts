import '@cordage/core/environment'
import { definePlugin, own } from '@cordage/core/kernel'
import { z } from 'zod'
import { createFileSystem } from './file-system.ts'
import { createProcesses } from './processes.ts'

const config = z.strictObject({
  env: z
    .array(z.string())
    .default([])
    .describe('Names of further variables that commands may see.'),
  killGraceMs: z
    .int()
    .min(0)
    .default(2000)
    .describe('What a process gets between being asked to end and being killed.'),
})

/** `ctx.fs` and `ctx.processes` of the machine that Cordage runs on. */
export default definePlugin({
  name: '@cordage/env-local',
  provides: ['fs', 'processes'],
  inject: ['host'],
  config,
  apply(ctx, config) {
    const closing = new AbortController()
    const reason = new DOMException('The environment is closing.', 'AbortError')
    const processes = createProcesses(ctx.host, config, closing.signal)
    own(ctx, 'fs', createFileSystem(closing.signal))
    own(ctx, 'processes', processes, async () => {
      closing.abort(reason)
      await processes.settled()
    })
  },
})
