import { constants, lstatSync, type Dirent, writeSync } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Io, IoFile, IoKind } from '@cordage/core/store'
import { errorCode } from './io.ts'
import { isLeased, takeLease } from './lease.ts'

/** The real disk. Files are 0600 and folders 0700. */
export const nodeIo: Io = {
  async open(path, mode) {
    return fileOf(await open(path, flags[mode], 0o600))
  },
  async stat(path) {
    try {
      // Asked at every append for what is not there: quicker than to have another thread look.
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found && { kind: kindOf(found), size: found.size, mtimeMs: found.mtimeMs }
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined
      throw error
    }
  },
  async list(path) {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  },
  async makeDirectory(path) {
    await makeDirectory(path)
  },
  async syncDirectory(path) {
    if (process.platform === 'win32') return
    const directory = await open(path, 'r')
    try {
      await directory.sync()
    } finally {
      await directory.close()
    }
  },
  rename,
  link,
  async remove(path) {
    await rm(path, { recursive: true, force: true })
  },
  lock: takeLease,
  locked: isLeased,
}

// One level at a time: `recursive` never returns where a parent is there and takes no folder, as
// in /proc.
async function makeDirectory(path: string): Promise<void> {
  if (await isDirectory(path)) return
  if (dirname(path) !== path) await makeDirectory(dirname(path))
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been quicker.
    if (!(await isDirectory(path))) throw error
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false
    throw error
  }
}

const flags = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
}

/** Up to here a write is a copy in memory, quicker than to have another thread make it. */
const maxInPlace = 16 * 1024

function fileOf(handle: FileHandle): IoFile {
  return {
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    write: async (bytes, position) => {
      const { length } = bytes
      if (length <= maxInPlace) return writeSync(handle.fd, bytes, 0, length, position)
      return (await handle.write(bytes, 0, length, position)).bytesWritten
    },
    sync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
    size: async () => (await handle.stat()).size,
    close: () => handle.close(),
  }
}

function kindOf(entry: Pick<Dirent, 'isFile' | 'isDirectory'>): IoKind {
  return entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : 'other'
}
