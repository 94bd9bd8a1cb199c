import { z } from 'zod'
import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createJobs } from './jobs.ts'

const config = z.strictObject({
  maxRunning: z.number().int().min(1).default(10).describe('Jobs of one agent at the same time.'),
  maxKeptChars: z
    .number()
    .int()
    .min(1000)
    .default(200_000)
    .describe('Of the output of each job, kept in memory.'),
})

const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'core-job',
  provides: ['jobs'],
  config,
  apply(ctx, limits) {
    const jobs = createJobs(ctx, limits)
    own(ctx, 'jobs', jobs, () => jobs.close())
  },
})

export default plugin
