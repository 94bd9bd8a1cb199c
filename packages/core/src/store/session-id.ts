import { storeError } from './errors.ts'

/** An id is the name of a folder and a word in a shell. */
const sessionId = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Whether any store may hold a session of that id. */
export function isSessionId(id: string): boolean {
  return sessionId.test(id)
}

/** What every store asks before it makes a session. Throws `STORE_ID_INVALID`. */
export function checkSessionId(id: string): void {
  if (!isSessionId(id)) throw storeError('STORE_ID_INVALID', { id })
}
