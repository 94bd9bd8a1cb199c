import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createCredentials } from './from-environment.ts'

const plugin: Plugin = definePlugin({
  name: 'core-credential',
  provides: ['credentials'],
  inject: ['host'],
  apply(ctx) {
    own(ctx, 'credentials', createCredentials(ctx.host.env))
  },
})

export default plugin
