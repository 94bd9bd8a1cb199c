import { definePlugin, own } from '../kernel/index.ts'
import { createModels } from './models.ts'

export default definePlugin({
  name: 'core-model',
  provides: ['models'],
  apply: (ctx) => own(ctx, 'models', createModels()),
})
