import type { StoreUpkeep } from '@cordage/core/store'
import { collectGarbage } from './collect.ts'
import { listSessions } from './listing.ts'
import type { JsonlStoreOptions } from './options.ts'
import { packLog } from './pack.ts'
import { reading, writing } from './system-error.ts'

/** What keeps the folders in order; `find` throws where there is no session of that id. */
export function upkeepOf(
  options: JsonlStoreOptions,
  find: (id: string) => Promise<string>,
): StoreUpkeep {
  const { directory: root, catalog } = options
  return {
    async pack(id) {
      const directory = await find(id)
      return writing(id, () => packLog(options, id, directory))
    },
    collect: (wanted = {}) => reading(root, () => collectGarbage(options, wanted)),
    async rebuild() {
      await catalog?.clear()
      await reading(root, () => listSessions(options, { children: true, archived: true }))
    },
  }
}
