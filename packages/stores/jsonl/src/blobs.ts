import { hash } from 'node:crypto'
import { join } from 'node:path'
import { type Io, storeError } from '@cordage/core/store'
import { makeFolder } from './durable.ts'
import { errorCode, placeFile, readWhole } from './io.ts'

/** Bytes under their SHA-256, in a folder of the session: written once, verified when read. */
export class Blobs {
  readonly #io: Io
  readonly #folder: string
  readonly #session: string

  constructor(io: Io, directory: string, session: string) {
    this.#io = io
    this.#folder = join(directory, 'blobs')
    this.#session = session
  }

  async put(bytes: Uint8Array): Promise<string> {
    const name = hash('sha256', bytes, 'hex')
    const path = join(this.#folder, name)
    if ((await this.#io.stat(path))?.size === bytes.length) return name
    await makeFolder(this.#io, this.#folder)
    await placeFile(this.#io, path, bytes)
    await this.#io.syncDirectory(this.#folder)
    return name
  }

  async get(name: string): Promise<Uint8Array> {
    const bytes = /^[0-9a-f]{64}$/.test(name) ? await this.#read(name) : undefined
    if (bytes && hash('sha256', bytes, 'hex') === name) return bytes
    throw storeError('BLOB_MISSING', { id: this.#session, hash: name })
  }

  async #read(name: string): Promise<Buffer | undefined> {
    const path = join(this.#folder, name)
    try {
      return (await this.#io.stat(path))?.kind === 'file'
        ? await readWhole(this.#io, path)
        : undefined
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined
      throw error
    }
  }
}
