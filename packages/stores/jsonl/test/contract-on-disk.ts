import { join } from 'node:path'
import { storeContract } from '@cordage/testkit'
import { nodeIo } from '../src/node-io.ts'
import { makeFixture } from './fixtures.ts'
import { startOwner } from './processes.ts'

/** The contract of stores on the real disk, with all the waiting for it. */
export function testContract(compression: 'zstd' | 'none'): void {
  storeContract(`store-jsonl (${compression})`, async () => {
    const { root, store, dispose } = await makeFixture({ compression, io: nodeIo })
    return {
      store,
      async ownElsewhere(id) {
        const owner = await startOwner(join(root, 'sessions'), id)
        return () => owner.kill()
      },
      dispose,
    }
  })
}
