// Boots a profile with an overlay and prints the milliseconds that it took.
import { boot } from 'cordage'

const [home = '', patch = ''] = process.argv.slice(2)
const begin = performance.now()
const harness = await boot({ profile: 'headless', home, env: {}, patches: [patch] })
const ms = performance.now() - begin
await harness.close()
console.log(ms)
