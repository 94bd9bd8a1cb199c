import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createPrompt } from './assembly.ts'

const plugin: Plugin = definePlugin({
  name: 'core-prompt',
  provides: ['prompt'],
  apply(ctx) {
    own(ctx, 'prompt', createPrompt(ctx))
  },
})

export default plugin
