import { join, resolve } from 'node:path'
import { inspect, type FileSystem, type FileStat, type Target } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { imageSize, type BlobRef, type ImagePart } from '@cordage/core/message'
import type { Decision } from '@cordage/core/policy'
import {
  decodeText,
  detectMedia,
  escapeFileName,
  escapeNotes,
  note,
  textEnds,
} from '@cordage/core/tool'
import type { IsIgnored } from './ignored.ts'
import type { PathWord } from './mentions.ts'

/** What a word turned out to name: where there is nothing, it is only a word. */
export type FileReference =
  | { readonly kind: 'text'; readonly path: string; readonly text: string }
  | { readonly kind: 'image'; readonly path: string; readonly image: ImagePart }
  | { readonly kind: 'refused'; readonly path: string; readonly reason: string }

export type Image = Omit<BlobRef, 'hash'>

export interface FileOptions {
  readonly fs: FileSystem
  /** Relative paths begin there. */
  readonly cwd: string
  readonly isIgnored: IsIgnored
  /** Of a resolved path. */
  readonly decide: (path: string) => Decision
  readonly clean: (text: string) => string
  /** Keeps the bytes of an image, where the model takes any; nothing where it has no room. */
  readonly putImage?: (bytes: Uint8Array, image: Image) => Promise<BlobRef | undefined>
}

const MAX_WHOLE_BYTES = 4 * 1024 * 1024
const MAX_IMAGE_BYTES = 5 * 1024 * 1024
const MAX_ENTRIES = 400
const NO_ROOM = 'there is no room for more'

/** Takes what the first of the candidates names that is there, about `maxBytes` of it. */
export async function takeFile(
  { candidates }: PathWord,
  maxBytes: number,
  options: FileOptions,
): Promise<FileReference | undefined> {
  for (const path of candidates) {
    const found = await inspect(options.fs, resolve(options.cwd, path), (target) => {
      return take(path, target, maxBytes, options)
    })
    if (found) return found
  }
  return undefined
}

async function take(
  path: string,
  target: Target,
  maxBytes: number,
  options: FileOptions,
): Promise<FileReference | undefined> {
  const stat = await target.stat()
  const isDirectory = stat?.kind === 'directory'
  // A word like a scope is often the name of a directory too: one that is meant ends so.
  if (!stat || (isDirectory && !/[\\/]$/.test(path))) return undefined
  const refused = (reason: string) => ({ kind: 'refused', path, reason }) as const
  const { answer, reason } = options.decide(target.path)
  if (answer !== 'allow') return refused(reason)
  if (await isHidden(path, target, stat, options)) return refused('an ignore file hides it')
  if (maxBytes === 0) return refused(NO_ROOM)
  try {
    if (isDirectory) return { kind: 'text', path, text: await listDirectory(target, options) }
    return await readFile({ path, target, stat, maxBytes }, options)
  } catch (error) {
    if (!isHarnessError(error)) throw error
    return refused(error.message)
  }
}

/** Under the name by which it is given, and under the one that it really has. */
async function isHidden(
  path: string,
  target: Target,
  { kind }: FileStat,
  { cwd, isIgnored }: FileOptions,
): Promise<boolean> {
  const what = kind === 'directory' ? 'directory' : 'file'
  return (await isIgnored(target.path, what)) || (await isIgnored(resolve(cwd, path), what))
}

async function listDirectory(target: Target, { isIgnored }: FileOptions): Promise<string> {
  const lines: string[] = []
  let more = 0
  for (const { name, kind } of await target.list()) {
    const isDirectory = kind === 'directory'
    if (lines.length >= MAX_ENTRIES) more += 1
    else if (!(await isIgnored(join(target.path, name), isDirectory ? 'directory' : 'file'))) {
      lines.push(`${escapeFileName(name)}${isDirectory ? '/' : ''}`)
    }
  }
  if (more > 0) lines.push(note({ more }, 'Entries were left out here.'))
  return lines.join('\n')
}

interface Found {
  readonly path: string
  readonly target: Target
  readonly stat: FileStat
  readonly maxBytes: number
}

async function readFile(
  { path, target, stat, maxBytes }: Found,
  { clean, putImage }: FileOptions,
): Promise<FileReference> {
  const refused = (reason: string) => ({ kind: 'refused', path, reason }) as const
  const isLarge = stat.size > MAX_WHOLE_BYTES
  const { bytes } = await target.read(isLarge ? { start: 0, end: maxBytes } : undefined)
  const media = detectMedia(bytes)
  if (media === 'application/pdf') return refused('it is a PDF, of which a tool may read the text')
  if (media) {
    if (!putImage) return refused('the model takes no images')
    if (stat.size > MAX_IMAGE_BYTES) return refused(`an image of ${stat.size} bytes is too large`)
    const whole = isLarge ? (await target.read()).bytes : bytes
    const image = { bytes: whole.length, mediaType: media, ...imageSize(whole) }
    const blob = await putImage(whole, image)
    if (!blob) return refused(NO_ROOM)
    return { kind: 'image', path, image: { type: 'image', blob } }
  }
  const text = decodeText(bytes)?.text
  if (text === undefined) return refused(`it is a binary file of ${stat.size} bytes`)
  // Where a character was cut, the end of it is not shown.
  const whole = isLarge ? text.replace(/\uFFFD$/, '') : text
  const shown = cut(escapeNotes(clean(whole)), maxBytes, stat.size)
  return { kind: 'text', path, text: shown }
}

function cut(text: string, maxBytes: number, size: number): string {
  const bytes = Buffer.from(text)
  const isPart = size > MAX_WHOLE_BYTES
  if (bytes.length <= maxBytes && !isPart) return text
  const { head, tail, leftOut } = isPart
    ? { head: text, tail: '', leftOut: size - bytes.length }
    : textEnds(bytes, maxBytes)
  const middle = note({ leftOut, of: size }, 'Bytes were left out here. Read the file for them.')
  return [head, middle, tail].filter((part) => part !== '').join('\n')
}
