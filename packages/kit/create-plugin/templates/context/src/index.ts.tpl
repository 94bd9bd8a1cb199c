import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'

const config = z.strictObject({
  /** What every agent is told. */
  text: z.string().min(1).default('Answer in one sentence where one is enough.'),
})

export default definePlugin({
  name: '{{name}}',
  inject: ['prompt'],
  config,
  apply: (ctx, { text }) => {
    ctx.prompt.section(ctx, { id: '{{row}}', render: () => text })
  },
})
