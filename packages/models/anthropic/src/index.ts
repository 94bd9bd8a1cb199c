import { definePlugin } from '@cordage/core/kernel'
import { config } from './config.ts'
import { createProvider } from './provider.ts'

export default definePlugin({
  name: 'model-anthropic',
  inject: ['models', 'credentials', 'host'],
  config,
  apply: (ctx, { providers }) => {
    for (const [id, route] of Object.entries(providers)) {
      const provider = createProvider(id, route, {
        credentials: ctx.credentials,
        variable: (name) => ctx.host.env[name]?.trim() || undefined,
      })
      ctx.models.register(ctx, provider, { order: route.order })
    }
  },
})
