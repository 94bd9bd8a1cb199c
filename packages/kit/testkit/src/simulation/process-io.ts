import type { Io } from '@cordage/core/store'
import { openFile } from './file.ts'
import { isLocked, takeLock } from './lock.ts'
import { Place } from './place.ts'
import type { SimulatedProcess } from './process.ts'
import { upTo } from './random.ts'
import { sync, type DirectoryNode } from './volume.ts'

/** The calls of one process on a disk. */
export function processIo(process: SimulatedProcess, root: DirectoryNode): Io {
  const at = (path: string) => new Place(root, path)
  return {
    open: (path, mode) =>
      process.call({ operation: 'open', path }, () => ({
        whole: () => openFile(process, path, at(path).open(mode)),
      })),
    stat: (path) =>
      process.call({ operation: 'stat', path }, () => ({
        whole() {
          const { node } = at(path)
          if (!node) return undefined
          const size = node.kind === 'file' ? node.bytes.length : 0
          return { kind: node.kind, size, mtimeMs: node.mtimeMs }
        },
      })),
    list: (path) =>
      process.call({ operation: 'list', path }, () => ({
        whole() {
          const { entries } = at(path).directory('list')
          return [...entries].map(([name, { kind }]) => ({ name, kind }))
        },
      })),
    makeDirectory: (path) =>
      process.call({ operation: 'makeDirectory', path }, () => ({
        whole: () => void at(path).makeDirectories(Infinity),
        partly: (random) => void at(path).makeDirectories(upTo(random, 2)),
      })),
    syncDirectory: (path) =>
      process.call({ operation: 'syncDirectory', path }, () => ({
        whole: () => sync(at(path).directory('syncDirectory')),
      })),
    rename: (from, to) =>
      process.call({ operation: 'rename', path: to }, () => ({
        whole: () => at(to).takeFrom(at(from)),
      })),
    link: (from, to) =>
      process.call({ operation: 'link', path: to }, () => ({ whole: () => at(to).link(at(from)) })),
    remove: (path) =>
      process.call({ operation: 'remove', path }, () => ({
        whole: () => void at(path).remove(Infinity),
        partly: (random) => void at(path).remove(upTo(random, 4)),
      })),
    lock: (path, force) =>
      process.call({ operation: 'lock', path }, () => ({
        whole: () => takeLock(process, at(path), path, force),
      })),
    locked: (path) =>
      process.call({ operation: 'locked', path }, () => ({ whole: () => isLocked(at(path)) })),
  }
}
