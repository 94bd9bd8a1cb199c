import { definePlugin, own, type Plugin } from '@cordage/core/kernel'
import { runTask } from './run.ts'

/** Runs one task without anybody to ask: an approval that nobody answers is refused. */
const plugin: Plugin = definePlugin({
  name: 'frontend-headless',
  provides: ['frontend'],
  inject: ['agents', 'approvals', 'models', 'processes', 'fs', 'sessions', 'store', 'tools'],
  apply(ctx) {
    ctx.approvals.answerer(
      ctx,
      async () => ({
        outcome: 'unanswered',
        by: 'frontend-headless',
        reason: 'a headless run has nobody to ask; --permission decides what is allowed',
      }),
      { order: 1000 },
    )
    own(ctx, 'frontend', { run: (invocation) => runTask(ctx, invocation) })
  },
})

export default plugin
