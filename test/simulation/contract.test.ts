import { storeContract } from '../../packages/kit/testkit/src/index.ts'
import { simulatedDisk } from '../../packages/kit/testkit/src/simulation/index.ts'
import { createJsonlStore } from '../../packages/stores/jsonl/src/index.ts'
import { folders, optionsOn } from './fixture/world.ts'

// The simulated disk is worth what it has in common with the real one.
storeContract('store-jsonl over a simulated disk', async () => {
  const disk = simulatedDisk({ folders })
  const store = createJsonlStore(optionsOn(disk))
  return {
    store,
    ownElsewhere: async (id) => {
      const other = disk.another()
      await createJsonlStore(optionsOn(other)).open(id, { mode: 'write' })
      return async () => other.kill()
    },
    dispose: () => store.close(),
  }
})
