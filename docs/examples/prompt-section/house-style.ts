import { definePlugin } from '@cordage/core/kernel'
import type { PromptContext, PromptSection } from '@cordage/core/prompt'
import { z } from 'zod'

const config = z.strictObject({ rules: z.array(z.string()).min(1) })

export default definePlugin({
  name: 'context-house-style',
  inject: ['prompt'],
  config,
  apply(ctx, { rules }) {
    ctx.prompt.section(ctx, houseStyle(rules))
    ctx.prompt.context(ctx, weekday)
  },
})

/** What never changes stands in the system prompt, which providers cache. */
function houseStyle(rules: readonly string[]): PromptSection {
  const text = ['The style of this house:', ...rules.map((rule) => `- ${rule}`)].join('\n')
  return { id: 'house-style', render: () => text }
}

/** What changes is a snapshot beside it, given again only when its text is another one. */
const weekday: PromptContext = {
  id: 'weekday',
  render: () => `Today is a ${new Date().toLocaleDateString('en', { weekday: 'long' })}.`,
}
