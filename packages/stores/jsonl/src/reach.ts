import { errorCode } from './io.ts'

/** Goes on with the rest where the permissions keep one thing from being looked into or removed. */
export class Reach {
  /** The paths that were left as they are. */
  readonly refused: string[] = []

  /** What `work` gives; `undefined` where it may not do that at `path`. */
  async to<T>(path: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      const { cause } = error as { cause?: unknown }
      if (!isForbidden(error) && !isForbidden(cause)) throw error
      this.refused.push(path)
      return undefined
    }
  }
}

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(errorCode(error) ?? '')
}
