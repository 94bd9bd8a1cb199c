// Boots a profile in a process of its own and prints what was there, then and afterwards.
import { createRoot, footprint } from '@cordage/core/kernel'
import { boot } from 'cordage'

const [profile = '', home = ''] = process.argv.slice(2)
const harness = await boot({ profile, home, env: {} })
const rows = harness.report()
const during = footprint(harness.ctx)
const { hung } = await harness.close()
const result = {
  rows,
  hung,
  during,
  after: footprint(harness.ctx),
  empty: footprint(createRoot({ log: () => {} })),
  log: harness.recentLog(),
}
console.log(JSON.stringify(result))
