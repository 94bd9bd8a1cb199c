import { definePlugin, own, type Plugin } from '../kernel/index.ts'
import { createAccount } from './account.ts'

const plugin: Plugin = definePlugin({
  name: 'core-ledger',
  provides: ['ledger'],
  apply(ctx) {
    own(ctx, 'ledger', {
      open: (id, { parent, limits = {} }) => createAccount(id, parent, limits),
    })
  },
})

export default plugin
