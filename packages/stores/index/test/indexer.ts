/** A process of its own that indexes the sessions of a home, and says how far it is. */
import { startProcess } from './place.ts'

const [home = ''] = process.argv.slice(2)
const { root, close } = await startProcess(home, {})
const all = root.sessionQuery.events({ text: 'zebra', waitMs: 600_000 })
process.send?.('begun')
const { hits } = await all
process.send?.(`done ${hits.length}`)
await close()
