/** Changes whenever the content may have: compare for equality only. */
export type FileVersion = string

export interface FileStat {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly size: number
  readonly mode: number
  /** Epoch milliseconds. */
  readonly modifiedAt: number
  readonly version: FileVersion
}

export interface DirectoryEntry {
  readonly name: string
  readonly kind: FileStat['kind']
}

/**
 * A path resolved once: symbolic links followed, its parent directory held open. The policy
 * decides on `path`, and everything done through the target happens there, even when somebody
 * swaps a directory of the path meanwhile (`TARGET_MOVED` otherwise).
 */
export interface Target extends AsyncDisposable {
  /** Absolute, resolved. The last part may not exist yet. */
  readonly path: string
  /** `undefined` when nothing is there. */
  stat(): Promise<FileStat | undefined>
  /**
   * Bytes from `start` up to `end`, not including it; fewer at the end of the file. The version is
   * that of the whole file. Throws `FILE_NOT_FOUND`, `FILE_IS_DIRECTORY`, `FILE_TOO_LARGE`, and
   * `PATH_INVALID` for devices, pipes and sockets.
   */
  read(range?: { start: number; end: number }): Promise<{ bytes: Uint8Array; version: FileVersion }>
  /**
   * Replaces the content in one move, keeping the mode of what was there; new files get the
   * umask's. Throws `FILE_STALE` when `expect` is not what is there, `FILE_EXISTS` when something
   * is although `expect` is `absent`, `FILE_DENIED` also for a file without any write permission.
   */
  write(
    bytes: Uint8Array,
    options: { expect?: FileVersion | 'absent'; mode?: number },
  ): Promise<FileVersion>
  /** Sorted by name. A byte that is not UTF-8 reads as U+FFFD: such an entry has no path. */
  list(): Promise<readonly DirectoryEntry[]>
  /** Removes a file; a directory is `FILE_IS_DIRECTORY`. */
  remove(): Promise<void>
}

export interface GlobQuery {
  /** Matched on the path below the directory: `*.ts` only finds what is directly in it. */
  readonly pattern: string
  /** Ignore files (.gitignore, .ignore) are respected unless this is set. */
  readonly ignored?: boolean
  readonly hidden?: boolean
  readonly maxResults: number
}

export interface GrepQuery {
  /** A regular expression in Rust's syntax. */
  readonly pattern: string
  /** As in `GlobQuery`, but a pattern without a slash matches names anywhere below. */
  readonly glob?: string
  /** A name that ripgrep knows: `ts`, `py`, `rust`. */
  readonly fileType?: string
  readonly ignoreCase?: boolean
  readonly multiline?: boolean
  readonly before?: number
  readonly after?: number
  readonly hidden?: boolean
  readonly ignored?: boolean
  /** Lines that match; lines of context are not counted. */
  readonly maxResults: number
}

/** `text` is one line without its end, cut after 500 characters. */
export interface GrepLine {
  readonly path: string
  readonly line: number
  readonly text: string
  /** False for a line of context. */
  readonly match: boolean
}

/** `incomplete` says why something is missing: an unreadable entry, a limit, a time limit. */
export interface SearchResult<Item> {
  readonly items: readonly Item[]
  readonly incomplete: readonly string[]
}

/** `ctx.fs`: files of one place. Tools never use it directly; they get `run.fs`. */
export interface FileSystem {
  /** `partial` where the system cannot hold a directory open against a swap. */
  readonly guarantee: 'full' | 'partial'
  /**
   * Resolves `path` (absolute) and holds its parent open. `parents` makes missing directories,
   * after `allow` has agreed to each resolved path. Throws `FILE_NOT_FOUND` (a parent is missing),
   * `FILE_DENIED`, `PATH_INVALID` (a NUL, a loop, too long).
   */
  target(path: string, options?: { parents?: (path: string) => void }): Promise<Target>
  /**
   * A text that is another one once `path` leads to another file or to another content, empty where
   * it leads to nothing. `undefined` where that cannot be told, as of a file that has just changed.
   * It holds nothing and allows nothing: it says that what was read before need not be read again.
   */
  fingerprint(path: string): Promise<string | undefined>
  /**
   * Paths of files below a directory, sorted, absolute. `directory` is the `path` of a target:
   * throws `TARGET_MOVED` when it is reached through a symbolic link.
   */
  glob(
    directory: string,
    query: GlobQuery,
    signal: AbortSignal,
  ): Promise<SearchResult<{ path: string; modifiedAt: number }>>
  /**
   * Throws `PATTERN_INVALID` with the engine's reason. `path` is the `path` of a target, a file or
   * a directory; files with NUL bytes are skipped.
   */
  grep(path: string, query: GrepQuery, signal: AbortSignal): Promise<SearchResult<GrepLine>>
}

declare module '@cordage/core/kernel' {
  interface Services {
    fs: FileSystem
  }
}
