import { isHarnessError } from '@cordage/core/error'
import { storeError } from '@cordage/core/store'
import { jsonlError } from './errors.ts'
import { errorCode } from './io.ts'

const reasons: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  EACCES: 'the permissions do not allow it',
  EPERM: 'the permissions do not allow it',
  ENOENT: 'its folder is gone',
  EMFILE: 'too many files are open',
}

/** Why the system refused, in words for people. */
export function reasonOf(error: unknown): string {
  const code = errorCode(error)
  return (code && reasons[code]) ?? `the system says ${code ?? String(error)}`
}

/** Runs `work`; a failure of the system becomes `STORE_WRITE_FAILED`. */
export async function writing<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isHarnessError(error) || errorCode(error) === undefined) throw error
    throw storeError('STORE_WRITE_FAILED', { id, reason: reasonOf(error) }, { cause: error })
  }
}

/** Runs `work`; a failure of the system becomes `STORE_UNREADABLE`. */
export async function reading<T>(location: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw unreadable(location, error)
  }
}

/** `error` itself unless it is the system's. */
export function unreadable(location: string, error: unknown): unknown {
  if (isHarnessError(error) || errorCode(error) === undefined) return error
  return jsonlError('STORE_UNREADABLE', { location, reason: reasonOf(error) }, { cause: error })
}
