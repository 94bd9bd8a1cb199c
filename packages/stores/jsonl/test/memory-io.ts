import type { Io } from '@cordage/core/store'

/** A disk that holds these files, and takes no other. */
export function readOnlyIo(files: ReadonlyMap<string, Buffer>): Io {
  const refuse = async (): Promise<never> => {
    throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
  }
  const below = (folder: string) =>
    [...files.keys()].filter((path) => path.startsWith(`${folder}/`))
  return {
    async open(path, mode) {
      const bytes = files.get(path)
      if (mode !== 'read') return refuse()
      if (!bytes) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
      return {
        read: async (into, position) => bytes.copy(into, 0, position),
        write: refuse,
        sync: refuse,
        truncate: refuse,
        size: async () => bytes.length,
        close: async () => {},
      }
    },
    async stat(path) {
      const bytes = files.get(path)
      if (bytes) return { kind: 'file', size: bytes.length, mtimeMs: 0 }
      return below(path).length > 0 ? { kind: 'directory', size: 0, mtimeMs: 0 } : undefined
    },
    async list(path) {
      const names = new Map<string, 'file' | 'directory'>()
      for (const file of below(path)) {
        const [name = '', ...rest] = file.slice(path.length + 1).split('/')
        names.set(name, rest.length > 0 ? 'directory' : 'file')
      }
      if (names.size === 0) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
      return [...names].map(([name, kind]) => ({ name, kind }))
    },
    makeDirectory: refuse,
    syncDirectory: refuse,
    rename: refuse,
    link: refuse,
    remove: refuse,
    lock: refuse,
    locked: async () => false,
  }
}
