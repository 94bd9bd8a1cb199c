import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { CatalogDatabase } from './catalog-database.ts'
import { CatalogList } from './catalog-list.ts'
import type { CatalogAnswer, CatalogCall } from './catalog.ts'

/** The thread that holds `catalog.db`: neither SQLite nor the looks at files hold anybody up. */
const root = workerData as string
const database = new CatalogDatabase(join(root, 'catalog.db'))
const lists = new Map<number, CatalogList>()

parentPort?.on('message', (call: CatalogCall) => {
  parentPort?.postMessage(tryToAnswer(call))
  if (call.kind === 'close') parentPort?.close()
})

function tryToAnswer(call: CatalogCall): CatalogAnswer {
  const { number } = call
  try {
    return { number, value: answerTo(call) }
  } catch {
    // Whoever asked does without, and a file that is spoiled is thrown away.
    return { number }
  }
}

function answerTo(call: CatalogCall): string {
  switch (call.kind) {
    case 'next': {
      const list = lists.get(call.list) ?? new CatalogList(root, database)
      lists.set(call.list, list)
      return list.next(call.count)
    }
    case 'end':
      lists.get(call.list)?.tell(call.told)
      lists.delete(call.list)
      break
    case 'forget':
      database.forget(call.id)
      break
    case 'clear':
      database.clear()
      break
    case 'close':
      database.close()
  }
  return ''
}
