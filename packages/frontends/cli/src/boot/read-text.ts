import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** The code of a pipe, a device or a socket: reading one may never end. */
export const NO_FILE = 'ENOTSUP'

// A pipe is not waited for; Windows does not know the flag.
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/** Reads a file that people may have put anything in the place of. Throws as `readFileSync`. */
export function readText(path: string): string {
  const fd = openSync(path, FLAGS)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() && !stat.isDirectory()) {
      const message = `${NO_FILE}: ${path} is no file`
      throw Object.assign(new TypeError(message), { code: NO_FILE })
    }
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}
