import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
import { killTool } from './job-kill.ts'
import { listTool } from './job-list.ts'
import { outputTool } from './job-output.ts'

const config = z.strictObject({
  maxWaitMs: z
    .number()
    .int()
    .min(0)
    .default(600_000)
    .describe('The longest that one `job_output` may wait.'),
})

/** What a model does with the jobs of its agent. */
export default definePlugin({
  name: '@cordage/tool-jobs',
  inject: ['tools', 'jobs'],
  config,
  apply: (ctx, { maxWaitMs }) => {
    ctx.tools.register(ctx, outputTool(ctx, maxWaitMs))
    ctx.tools.register(ctx, killTool(ctx.jobs))
    ctx.tools.register(ctx, listTool(ctx.jobs))
  },
})
