import { isHarnessError } from '../error/index.ts'
import type { FileSystem, Target } from './file-system.ts'

/** What `look` finds at a path; nothing of what is gone or cannot be had. Other faults reject. */
export async function inspect<T>(
  fs: FileSystem,
  path: string,
  look: (target: Target) => Promise<T>,
): Promise<T | undefined> {
  try {
    await using target = await fs.target(path)
    return await look(target)
  } catch (error) {
    if (isHarnessError(error)) return undefined
    throw error
  }
}
