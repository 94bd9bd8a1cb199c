import { fail } from './errors.ts'

/** `task`, or COMPOSE_ROW_TIMEOUT naming `row`; what hangs goes on unseen. */
export async function withinTime<T>(
  task: Promise<T>,
  limit: { row: string; what: string; timeoutMs: number },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(fail('COMPOSE_ROW_TIMEOUT', limit)), limit.timeoutMs)
  })
  try {
    return await Promise.race([task, late])
  } finally {
    clearTimeout(timer)
  }
}
