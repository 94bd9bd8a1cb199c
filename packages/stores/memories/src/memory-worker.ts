import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { describeFailure } from '@cordage/core/kernel'
import type { Answer, Call } from './calls.ts'
import { MemoryDatabase } from './memory-database.ts'
import { fileId, isSpoiled, setAside } from './memory-file.ts'

/** The thread of the memories: SQLite holds nobody up. */
const path = workerData as string
let database: MemoryDatabase | undefined

parentPort?.on('message', ({ port, ...call }: Call & { port: MessagePort }) => {
  port.postMessage(answerTo(call))
  port.close()
  if (call.kind === 'close') parentPort?.close()
})

function answerTo(call: Call): Answer {
  const file = fileId(path)
  try {
    return { value: valueOf(call), aside: undefined }
  } catch (error) {
    if (isSpoiled(error)) return beginAnew(call, file)
    return { failed: describeFailure(error) }
  }
}

/** What was asked of the spoiled file is asked of the empty one that takes its place. */
function beginAnew(call: Call, file: number | undefined): Answer {
  try {
    close()
    const aside = setAside(path, file)
    return { value: valueOf(call), aside }
  } catch (error) {
    return { failed: describeFailure(error) }
  }
}

function valueOf(call: Call): unknown {
  if (call.kind === 'close') return close()
  // Another process has set the file aside, or somebody has removed it.
  if (database?.isCurrent === false) close()
  database ??= new MemoryDatabase(path)
  switch (call.kind) {
    case 'add':
      return database.add(call.ask.project, call.ask.memory)
    case 'search':
      return database.search(call.ask.project, call.ask.query)
    case 'list':
      return database.list(call.ask.project)
    case 'forget':
      return database.forget(call.ask.project, call.ask.id)
  }
}

function close(): void {
  database?.close()
  database = undefined
}
