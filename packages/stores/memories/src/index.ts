import { join } from 'node:path'
import { definePlugin, log, own, type Plugin } from '@cordage/core/kernel'
import type { Memories } from '@cordage/core/store'
import { memoriesError } from './errors.ts'
import { MemoryThread } from './memory-thread.ts'

/** What agents remember across sessions, in `memories.db` of the harness home. */
const plugin: Plugin = definePlugin({
  name: '@cordage/store-memories',
  provides: ['memories'],
  inject: ['host'],
  apply(ctx) {
    const location = join(ctx.host.home, 'memories.db')
    let notice: string | undefined
    const thread = new MemoryThread(location, (aside) => {
      notice = `What was remembered before is spoiled, and was set aside as ${aside}.`
      log(ctx, 'error', notice)
    })
    own(
      ctx,
      'memories',
      memoriesOf(thread, location, () => notice),
      () => thread.close(),
    )
  },
})

export default plugin

function memoriesOf(
  thread: MemoryThread,
  location: string,
  notice: () => string | undefined,
): Memories {
  return {
    location,
    get notice() {
      return notice()
    },
    add: async (project, memory) => {
      const item = await thread.ask('add', { project, memory })
      if (item) return item
      throw memoriesError('MEMORY_UNKNOWN', { id: memory.replaces, verb: 'replaced' })
    },
    search: (project, query) => thread.ask('search', { project, query }),
    list: (project) => thread.ask('list', { project }),
    forget: async (project, id) => {
      const forgotten = await thread.ask('forget', { project, id })
      if (forgotten) return forgotten
      throw memoriesError('MEMORY_UNKNOWN', { id, verb: 'forgotten' })
    },
  }
}
