import { stat } from 'node:fs/promises'
import { errnoOf } from './failure.ts'
import { identityVersion } from './version.ts'

/** Systems note the time of a change in steps; within one, a second change is not to be seen. */
const SETTLED_MS = 2_000

/** What the system says of the file that `path` leads to. */
export async function fingerprint(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path, { bigint: true })
    const changedAt = stats.ctimeMs > stats.mtimeMs ? stats.ctimeMs : stats.mtimeMs
    return Date.now() - Number(changedAt) < SETTLED_MS ? undefined : identityVersion(stats)
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? '' : undefined
  }
}
