import type { IoLock } from '@cordage/core/store'
import type { Place } from './place.ts'
import type { SimulatedProcess } from './process.ts'
import type { FileNode } from './volume.ts'

/** Who holds the lock of a file; nobody does once that process has ended. */
const holders = new WeakMap<FileNode, SimulatedProcess>()

export function isLocked({ node }: Place): boolean {
  return node?.kind === 'file' && holders.get(node)?.alive === true
}

export function takeLock(
  process: SimulatedProcess,
  place: Place,
  path: string,
  force: boolean,
): IoLock | undefined {
  const takenOver = isLocked(place)
  if (takenOver && !force) return undefined
  // The one who is taken over keeps the lock of a file that has lost its name.
  if (takenOver) place.remove(1)
  const file = place.node ? place.open('write') : place.makeFile()
  holders.set(file, process)
  return {
    takenOver,
    current: () =>
      process.call({ operation: 'lock.current', path }, () => ({
        whole: () => place.node === file,
      })),
    release: () =>
      process.call({ operation: 'lock.release', path }, () => ({
        whole: () => void holders.delete(file),
      })),
  }
}
