import type { IoFile } from '@cordage/core/store'
import { systemFailure } from './fault.ts'
import type { SimulatedProcess } from './process.ts'
import { upTo } from './random.ts'
import { changeFile, loseUnsynced, sync, type FileNode } from './volume.ts'

/** An open file of one process. */
export function openFile(process: SimulatedProcess, path: string, node: FileNode): IoFile {
  let open = true
  const write = (at: number, bytes: Uint8Array): number => {
    assertOpen()
    // The caller may use its buffer again.
    changeFile(node, { at, bytes: Uint8Array.from(bytes) })
    node.mtimeMs = Date.now()
    return bytes.length
  }
  const assertOpen = () => {
    if (!open) throw systemFailure('EBADF', { operation: 'file.close', path })
  }
  return {
    read: (into, position) =>
      process.call({ operation: 'file.read', path }, (short) => ({
        whole() {
          assertOpen()
          const count = Math.min(short, into.length)
          const found = node.bytes.subarray(position, position + count)
          into.set(found)
          return found.length
        },
      })),
    write: (bytes, position) =>
      process.call({ operation: 'file.write', path, bytes }, (short) => ({
        whole: () => write(position, bytes.subarray(0, short)),
        partly: (random) => write(position, bytes.subarray(0, upTo(random, bytes.length - 1))),
      })),
    sync: () =>
      process.call({ operation: 'file.sync', path }, () => ({
        whole() {
          assertOpen()
          sync(node)
        },
        lost: () => loseUnsynced(node),
      })),
    truncate: (length) =>
      process.call({ operation: 'file.truncate', path }, () => ({
        whole() {
          assertOpen()
          changeFile(node, { at: length })
        },
      })),
    size: () =>
      process.call({ operation: 'file.size', path }, () => ({ whole: () => node.bytes.length })),
    close: () =>
      process.call({ operation: 'file.close', path }, () => ({ whole: () => void (open = false) })),
  }
}
