import { definePlugin } from '@cordage/core/kernel'
import type { PromptSection } from '@cordage/core/prompt'
import { z } from 'zod'

const config = z.strictObject({
  /** What every agent is told. */
  text: z.string().min(1).default('Answer in one sentence where one is enough.'),
})

export default definePlugin({
  name: '{{name}}',
  inject: ['prompt'],
  config,
  apply: (ctx, { text }) => ctx.prompt.section(ctx, section(text)),
})

function section(text: string): PromptSection {
  return { id: '{{row}}', render: () => text }
}
