import {
  createRoot,
  type Context,
  type LogRecord,
  type Mounted,
  type RootContext,
} from '@cordage/core/kernel'

declare module '@cordage/core/kernel' {
  interface Services {
    testDb: { query(): string }
    testCache: { size: number }
  }
}

export interface Fixture {
  readonly root: RootContext
  readonly trail: string[]
  readonly logged: LogRecord[]
  errors(): string[]
}

/** A real container with a trail for plugins to write to. */
export function fixture(): Fixture {
  const logged: LogRecord[] = []
  const root = createRoot({ log: (record) => logged.push(record) })
  const errors = () => logged.filter(({ level }) => level === 'error').map(({ text }) => text)
  return { root, trail: [], logged, errors }
}

export const pause = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Settles all rows until none of them moves. */
export async function settle(...rows: Mounted[]): Promise<string[]> {
  for (let round = 0; round < 3; round++) for (const row of rows) await row.settled()
  return rows.map((row) => row.state().state)
}

export function defer<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  return Promise.withResolvers<T>()
}

export type { Context }
