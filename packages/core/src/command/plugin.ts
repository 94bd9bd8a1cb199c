import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createCommands } from './commands.ts'

const plugin: Plugin = definePlugin({
  name: 'core-command',
  provides: ['commands'],
  apply: (ctx) => own(ctx, 'commands', createCommands(ctx)),
})

export default plugin
