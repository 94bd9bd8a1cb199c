/**
 * What a store that keeps files asks of the system: given from outside, so that a simulated disk
 * can take its place. Failures carry the system's `code` (ENOENT, ENOSPC...). Whatever is not
 * promised here to survive a power cut may be lost in it, whole or in part; what a process did is
 * seen by every other one at once, and outlives the process.
 */
export interface Io {
  /**
   * `write` also reads. `create` fails with EEXIST when the name is taken, which no two processes
   * can miss; the new name is durable after `syncDirectory` of its folder.
   */
  open(path: string, mode: 'read' | 'write' | 'create'): Promise<IoFile>
  /** `undefined` when there is nothing. A link is not followed: it is of the kind `other`. */
  stat(path: string): Promise<IoStat | undefined>
  /** In no order. Throws ENOENT where there is no folder. */
  list(path: string): Promise<readonly { name: string; kind: IoKind }[]>
  /** With all that lead to it. Each is durable after `syncDirectory` of the folder it lies in. */
  makeDirectory(path: string): Promise<void>
  /** The names in a folder, and what they name, are on the disk; not what those files hold. */
  syncDirectory(path: string): Promise<void>
  /**
   * Takes the place of a file of that name, and fails with ENOTEMPTY or EEXIST on a folder with
   * something in it. Everybody sees the one or the other, a power cut before `syncDirectory` too.
   */
  rename(from: string, to: string): Promise<void>
  /**
   * A second name for the same file, which lives until its last name is removed. Fails with EEXIST
   * when the name is taken, and with other codes where the system has no links: copy then.
   */
  link(from: string, to: string): Promise<void>
  /** A file or a whole folder; nothing there is fine. Open files live on without a name. */
  remove(path: string): Promise<void>
  /**
   * The lock of the file at `path`, which is made where it is missing. `undefined` while a live
   * process holds it, unless `force` puts another file in its place. It ends with its process,
   * at once and however that ends.
   */
  lock(path: string, force: boolean): Promise<IoLock | undefined>
  /** Whether a live process holds the lock; asking takes nothing from it. */
  locked(path: string): Promise<boolean>
}

/** An open file. It stays the same file when its name goes to another one. */
export interface IoFile {
  /** How many bytes came: fewer than asked for are no end, 0 is. */
  read(into: Uint8Array, position: number): Promise<number>
  /** How many bytes were taken: maybe fewer. Not durable before `sync`; a power cut may tear it. */
  write(bytes: Uint8Array, position: number): Promise<number>
  /**
   * All bytes written before, and the size, are on the disk. After a failure nothing is known of
   * them, and a second call that succeeds says nothing about what was lost to the first one.
   */
  sync(): Promise<void>
  /** Durable after `sync`, as a write. */
  truncate(length: number): Promise<void>
  size(): Promise<number>
  close(): Promise<void>
}

export type IoKind = 'file' | 'directory' | 'other'

export interface IoStat {
  readonly kind: IoKind
  readonly size: number
  /** Epoch milliseconds, with fractions where the system has them. */
  readonly mtimeMs: number
}

/** A lock held by this process until `release`, whatever happens to the file's name. */
export interface IoLock {
  /** It was taken from an owner that may be alive. */
  readonly takenOver: boolean
  /** False once another process has put its own file in the place of this one. */
  current(): Promise<boolean>
  release(): Promise<void>
}
