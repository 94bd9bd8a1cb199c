/** A process of its own that remembers so many things, and says of each that it has. */
import { memory, startProcess } from './place.ts'

const [home = '', name = '', count = ''] = process.argv.slice(2)
const { memories, close } = await startProcess(home)
for (let at = 0; at < Number(count); at += 1) {
  await memories.add('/work', memory(`zebra ${name} number ${at}`))
  process.send?.(at)
}
await close()
process.disconnect()
