import { parentPort, workerData } from 'node:worker_threads'
import type { Answer, Call } from './calls.ts'
import { IndexDatabase, isSpoiled } from './index-database.ts'

/** The thread of the index: neither SQLite nor taking texts to pieces holds anybody up. */
let database: IndexDatabase | undefined

parentPort?.on('message', (call: Call) => {
  parentPort?.postMessage(answerTo(call))
  if (call.kind === 'close') parentPort?.close()
})

function answerTo(call: Call): Answer {
  const { number } = call
  try {
    return { number, value: valueOf(call) }
  } catch (error) {
    return { number, failed: String(error), again: isSpoiled(error) && beginAnew() }
  }
}

function beginAnew(): boolean {
  try {
    database?.clear()
    return true
  } catch {
    // Whoever asked is told why the file could not be used in the first place.
    return false
  }
}

function valueOf(call: Call): unknown {
  if (call.kind === 'close') return database?.close()
  database ??= new IndexDatabase(workerData as string)
  switch (call.kind) {
    case 'known':
      return database.known(call.ask.version)
    case 'put':
      return database.put(call.ask)
    case 'forget':
      return database.forget(call.ask.ids)
    case 'search':
      return database.search(call.ask)
    case 'clear':
      return database.clear()
  }
}
