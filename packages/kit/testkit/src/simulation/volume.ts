import { upTo } from './random.ts'

/** A change that only the cache holds: `bytes` written at `at`, or, without them, a new length. */
interface FileChange {
  readonly at: number
  readonly bytes?: Uint8Array
}

/** What names stand for from now on, all at once; `undefined` takes a name away. */
type EntryChange = readonly (readonly [name: string, node: Node | undefined])[]

export interface FileNode {
  readonly kind: 'file'
  /** As every process sees it. */
  bytes: Buffer
  /** As it is after a power cut that loses all of `pending`. */
  durable: Buffer
  pending: FileChange[]
  mtimeMs: number
}

export interface DirectoryNode {
  readonly kind: 'directory'
  readonly entries: Map<string, Node>
  readonly durable: Map<string, Node>
  pending: EntryChange[]
  mtimeMs: number
}

export type Node = FileNode | DirectoryNode

export function newFile(mtimeMs: number): FileNode {
  const none = Buffer.alloc(0)
  return { kind: 'file', bytes: none, durable: none, pending: [], mtimeMs }
}

export function newDirectory(mtimeMs: number): DirectoryNode {
  return { kind: 'directory', entries: new Map(), durable: new Map(), pending: [], mtimeMs }
}

export function changeFile(file: FileNode, change: FileChange): void {
  file.bytes = changed(file.bytes, change)
  file.pending.push(change)
}

export function changeEntry(directory: DirectoryNode, change: EntryChange): void {
  applyEntry(directory.entries, change)
  directory.pending.push(change)
}

/** Brings what the cache holds of a node itself to the disk. */
export function sync(node: Node): void {
  if (node.kind === 'file') {
    for (const change of node.pending) node.durable = changed(node.durable, change)
  } else {
    for (const change of node.pending) applyEntry(node.durable, change)
  }
  node.pending = []
}

export function syncTree(node: Node): void {
  sync(node)
  if (node.kind === 'directory') for (const child of node.entries.values()) syncTree(child)
}

/** A flush that failed: the system counts what it had as clean, and never writes it. */
export function loseUnsynced(file: FileNode): void {
  file.pending = []
}

type Copies = Map<Node, Node>

/** A copy of a tree as processes see it, with what is not on the disk yet. */
export function copyTree(root: DirectoryNode): DirectoryNode {
  return copyDirectory(root, new Map())
}

function copyDirectory(node: DirectoryNode, copies: Copies): DirectoryNode {
  const copy = newDirectory(node.mtimeMs)
  copies.set(node, copy)
  for (const [name, child] of node.entries) copy.entries.set(name, copyNode(child, copies))
  for (const [name, child] of node.durable) copy.durable.set(name, copyNode(child, copies))
  copy.pending = node.pending.map((change) => {
    return change.map(([name, child]) => [name, child && copyNode(child, copies)] as const)
  })
  return copy
}

function copyNode(node: Node, copies: Copies): Node {
  const known = copies.get(node)
  if (known) return known
  if (node.kind === 'directory') return copyDirectory(node, copies)
  const copy = { ...node, pending: [...node.pending] }
  copies.set(node, copy)
  return copy
}

export interface PowerCut {
  readonly random: () => number
  /** A write that is torn is torn between two of these. */
  readonly blockBytes: number
  /**
   * `last`: of each file and folder, the changes up to some point are kept; `any`: each block of
   * each change is kept or lost by itself, and zeros may stand before what is kept.
   */
  readonly loses: 'last' | 'any'
}

/** What is on the disk after a power cut: all that was synced, and some of what was not. */
export function afterPowerCut(root: DirectoryNode, cut: PowerCut): DirectoryNode {
  return directoryAfter(root, cut, new Map())
}

function directoryAfter(node: DirectoryNode, cut: PowerCut, copies: Copies): DirectoryNode {
  const copy = newDirectory(node.mtimeMs)
  copies.set(node, copy)
  const entries = new Map(node.durable)
  for (const change of keptOf(node.pending, cut)) applyEntry(entries, change)
  for (const [name, child] of entries) {
    const left = copies.get(child) ?? nodeAfter(child, cut, copies)
    copy.entries.set(name, left)
    copy.durable.set(name, left)
  }
  return copy
}

function nodeAfter(node: Node, cut: PowerCut, copies: Copies): Node {
  if (node.kind === 'directory') return directoryAfter(node, cut, copies)
  const pieces = node.pending.flatMap((change) => piecesOf(change, cut.blockBytes))
  const bytes = keptOf(pieces, cut).reduce((before, piece) => changed(before, piece), node.durable)
  const copy: FileNode = { ...node, bytes, durable: bytes, pending: [] }
  copies.set(node, copy)
  return copy
}

function keptOf<T>(changes: readonly T[], { random, loses }: PowerCut): T[] {
  if (loses === 'any') return changes.filter(() => random() < 0.5)
  return changes.slice(0, upTo(random, changes.length))
}

function piecesOf({ at, bytes }: FileChange, blockBytes: number): FileChange[] {
  if (!bytes) return [{ at }]
  const pieces: FileChange[] = []
  for (let from = at; from < at + bytes.length;) {
    const to = Math.min((Math.floor(from / blockBytes) + 1) * blockBytes, at + bytes.length)
    pieces.push({ at: from, bytes: bytes.subarray(from - at, to - at) })
    from = to
  }
  return pieces
}

function changed(before: Buffer, { at, bytes }: FileChange): Buffer {
  const length = bytes ? Math.max(before.length, at + bytes.length) : at
  const after = Buffer.alloc(length)
  before.copy(after)
  if (bytes) after.set(bytes, at)
  return after
}

function applyEntry(entries: Map<string, Node>, change: EntryChange): void {
  for (const [name, node] of change) {
    if (node) entries.set(name, node)
    else entries.delete(name)
  }
}
