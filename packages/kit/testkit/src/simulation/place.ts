import { basename, dirname } from 'node:path'
import { systemFailure, type IoCall } from './fault.ts'
import {
  changeEntry,
  newDirectory,
  newFile,
  type DirectoryNode,
  type FileNode,
  type Node,
} from './volume.ts'

type Doing = Pick<IoCall, 'operation'>

/** A path on a disk, and what stands there now. */
export class Place {
  readonly #root: DirectoryNode
  readonly #path: string

  constructor(root: DirectoryNode, path: string) {
    this.#root = root
    this.#path = path
  }

  get node(): Node | undefined {
    if (this.#path === dirname(this.#path)) return this.#root
    return this.#above?.entries.get(this.#name)
  }

  open(mode: 'read' | 'write' | 'create'): FileNode {
    const { node } = this
    if (mode === 'create') {
      if (node) throw this.#failure('EEXIST', 'open')
      return this.makeFile()
    }
    if (!node) throw this.#failure('ENOENT', 'open')
    if (node.kind === 'directory') throw this.#failure('EISDIR', 'open')
    return node
  }

  makeFile(): FileNode {
    const file = newFile(Date.now())
    this.#put(file)
    return file
  }

  directory(operation: Doing['operation']): DirectoryNode {
    const { node } = this
    if (!node) throw this.#failure('ENOENT', operation)
    if (node.kind === 'file') throw this.#failure('ENOTDIR', operation)
    return node
  }

  /** With those that lead to it, but only the first `most` of what is missing. */
  makeDirectories(most: number): number {
    const { node } = this
    if (node?.kind === 'file') throw this.#failure('EEXIST', 'makeDirectory')
    if (node) return most
    const left = this.#parent.makeDirectories(most)
    if (left > 0) this.#put(newDirectory(Date.now()))
    return left - 1
  }

  takeFrom(source: Place): void {
    const { node } = source
    if (!node) throw source.#failure('ENOENT', 'rename')
    const other = this.node
    if (other === node) return
    if (other && other.kind !== node.kind) {
      throw this.#failure(other.kind === 'directory' ? 'EISDIR' : 'ENOTDIR', 'rename')
    }
    if (other?.kind === 'directory' && other.entries.size > 0) {
      throw this.#failure('ENOTEMPTY', 'rename')
    }
    if (source.#above !== this.#above) {
      // In another folder: the new name is there before the old one goes, whatever is lost.
      this.#put(node)
      this.#above?.durable.set(this.#name, node)
      return source.#drop()
    }
    changeEntry(this.#writable('rename'), [
      [source.#name, undefined],
      [this.#name, node],
    ])
  }

  link(source: Place): void {
    const { node } = source
    if (!node) throw source.#failure('ENOENT', 'link')
    if (node.kind === 'directory') throw source.#failure('EPERM', 'link')
    if (this.node) throw this.#failure('EEXIST', 'link')
    this.#put(node)
  }

  /** What is inside goes first, one after the other; stops after `most`. */
  remove(most: number): number {
    const { node } = this
    if (!node || most <= 0) return most
    let left = most
    for (const name of node.kind === 'directory' ? [...node.entries.keys()] : []) {
      left = new Place(this.#root, `${this.#path}/${name}`).remove(left)
    }
    if (left > 0) this.#drop()
    return left - 1
  }

  get #name(): string {
    return basename(this.#path)
  }

  get #parent(): Place {
    return new Place(this.#root, dirname(this.#path))
  }

  get #above(): DirectoryNode | undefined {
    const { node } = this.#parent
    return node?.kind === 'directory' ? node : undefined
  }

  #put(node: Node): void {
    changeEntry(this.#writable('open'), [[this.#name, node]])
  }

  #drop(): void {
    changeEntry(this.#writable('remove'), [[this.#name, undefined]])
  }

  #writable(operation: Doing['operation']): DirectoryNode {
    if (!this.#above) throw this.#failure('ENOENT', operation)
    return this.#above
  }

  #failure(code: string, operation: Doing['operation']): Error {
    return systemFailure(code, { operation, path: this.#path })
  }
}
