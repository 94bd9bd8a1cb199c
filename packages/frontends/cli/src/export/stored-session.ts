import { isHarnessError } from '@cordage/core/error'
import { isChildOf, type Fact } from '@cordage/core/session'
import type { SessionLog, SessionSummary, Store } from '@cordage/core/store'
import type { ExportedSession } from './exported-session.ts'

/** The sessions of `store` as an export reads them; `report` is told of what cannot be read. */
export function storedSession(
  store: Store,
  log: SessionLog,
  report: (notice: string) => void,
  above: readonly string[] = [],
): ExportedSession {
  const { header, notices } = log
  const known = [...above, header.id]
  return {
    header,
    notices,
    read: () => readable(log, report),
    async blob(hash) {
      try {
        return await log.getBlob(hash)
      } catch (error) {
        if (!isHarnessError(error, 'BLOB_MISSING')) throw error
        report(error.message)
        return undefined
      }
    },
    async *children() {
      for (const child of await childrenOf(store, known)) {
        const opened = await store.open(child.header.id, { mode: 'read' })
        try {
          yield storedSession(store, opened, report, known)
        } finally {
          await opened.close()
        }
      }
    },
  }
}

/** What lies before damage is exported; the damage is told. */
async function* readable(log: SessionLog, report: (notice: string) => void): AsyncGenerator<Fact> {
  try {
    yield* log.read(0)
  } catch (error) {
    if (!isHarnessError(error, 'STORE_DAMAGED')) throw error
    report(`${error.message} What lies behind it is not exported.`)
  }
}

async function childrenOf(store: Store, known: readonly string[]): Promise<SessionSummary[]> {
  const all = await store.list({ children: true })
  const children = all.filter(({ header, damaged }) => {
    const started = isChildOf(header, known.at(-1) ?? '')
    return started && damaged === undefined && !known.includes(header.id)
  })
  return children.sort((a, b) => a.header.createdAt - b.header.createdAt)
}
