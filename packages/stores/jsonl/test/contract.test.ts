import { join } from 'node:path'
import { storeContract } from '@cordage/testkit'
import { makeFixture } from './fixtures.ts'
import { startOwner } from './processes.ts'

for (const compression of ['zstd', 'none'] as const) {
  storeContract(`store-jsonl (${compression})`, async () => {
    const { root, store, dispose } = await makeFixture({ compression })
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
