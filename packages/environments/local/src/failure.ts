import { environmentError } from '@cordage/core/environment'
import { HarnessError } from '@cordage/core/error'

/** The system's reason (`EACCES`), undefined for errors that are not the system's. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof HarnessError) return undefined
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** What a failed system call on `path` means to a caller; other errors pass unchanged. */
export function fileError(error: unknown, path: string): unknown {
  const errno = errnoOf(error)
  if (errno === undefined) return error
  const denied = deniedReasons[errno]
  if (denied) return environmentError('FILE_DENIED', { path, reason: denied }, { cause: error })
  const invalid = invalidReasons[errno]
  if (invalid) return environmentError('PATH_INVALID', { path, reason: invalid }, { cause: error })
  const code = codes[errno]
  if (code) return environmentError(code, { path }, { cause: error })
  return environmentError('FILE_FAILED', { path, reason: errno }, { cause: error })
}

const codes: Partial<
  Record<
    string,
    'FILE_NOT_FOUND' | 'FILE_EXISTS' | 'FILE_IS_DIRECTORY' | 'FILE_NOT_DIRECTORY' | 'DISK_FULL'
  >
> = {
  ENOENT: 'FILE_NOT_FOUND',
  EEXIST: 'FILE_EXISTS',
  EISDIR: 'FILE_IS_DIRECTORY',
  ENOTDIR: 'FILE_NOT_DIRECTORY',
  ENOSPC: 'DISK_FULL',
  EDQUOT: 'DISK_FULL',
}

const deniedReasons: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  EBUSY: 'it is in use by the system',
}

const invalidReasons: Partial<Record<string, string>> = {
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links go in a circle',
  EINVAL: 'the system does not accept it',
  ENXIO: 'it is not a regular file',
}
