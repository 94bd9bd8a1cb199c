import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createCredentials } from './find-secret.ts'

const plugin: Plugin = definePlugin({
  name: 'core-credential',
  provides: ['credentials'],
  inject: ['host'],
  apply(ctx) {
    own(ctx, 'credentials', createCredentials(ctx.host))
  },
})

export default plugin
