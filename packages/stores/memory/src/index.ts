import { definePlugin, own } from '@cordage/core/kernel'
import { MemoryStore } from './memory-store.ts'

export { MemoryStore } from './memory-store.ts'

export default definePlugin({
  name: '@cordage/store-memory',
  provides: ['store'],
  apply(ctx) {
    own(ctx, 'store', new MemoryStore())
  },
})
