import { inspect } from '@cordage/core/environment'
import { rowOf, type PluginContext } from '@cordage/core/kernel'
import type { PreStepInput } from '@cordage/core/loop'
import { imagePrice } from '@cordage/core/model'
import { newId, type ContentPart, type Message } from '@cordage/core/message'
import { filesContent } from './files-content.ts'
import { takeFile, type FileOptions, type FileReference, type Image } from './file-reference.ts'
import { createIgnored } from './ignored.ts'
import type { Mentions } from './mentions.ts'
import { captureSession, findReferences } from './session-reference.ts'

export type ReferenceContext = PluginContext<'sessions' | 'store' | 'fs' | 'policy'>

export interface ReferenceLimits {
  readonly maxSessions: number
  readonly sessionBytes: number
  readonly maxFiles: number
  readonly fileBytes: number
  readonly maxWindowShare: number
}

interface Asked {
  readonly mentions: Mentions
  readonly input: PreStepInput
}

/** Few bytes for a token, so that what is shown keeps to its share of a small window. */
const BYTES_PER_TOKEN = 2
/** Words that are looked for: each is a look at the disk, and what was pasted may have thousands. */
const MAX_WORDS = 200
/** Less of a file says nothing. */
const MIN_FILE_BYTES = 256

/** A message for each session, and one for all files. Throws the codes of `findReferences`. */
export async function takeReferences(
  ctx: ReferenceContext,
  limits: ReferenceLimits,
  asked: Asked,
): Promise<readonly Message[]> {
  const { contextWindow } = asked.input.model.info
  const room = Math.floor(contextWindow * limits.maxWindowShare * BYTES_PER_TOKEN)
  const sessions = await takeSessions(ctx, limits, asked, room)
  const used = sessions.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const files = await takeFiles(ctx, limits, asked, room - used)
  const source = { kind: 'plugin', row: rowOf(ctx), form: 'snapshot' } as const
  const message = (content: readonly ContentPart[]): Message => {
    return { id: newId(), role: 'user', content, source }
  }
  return [
    ...sessions.map((text) => message([{ type: 'text', text }])),
    ...(files.length > 0 ? [message(filesContent(files))] : []),
  ]
}

/** All are found before the first is read, so that a refusal leaves nothing behind. */
async function takeSessions(
  ctx: ReferenceContext,
  { maxSessions: max, sessionBytes }: ReferenceLimits,
  { mentions, input }: Asked,
  room: number,
): Promise<string[]> {
  const { session } = input.agent
  const found = await findReferences(mentions.sessions, { ctx, session, max })
  const maxBytes = Math.min(sessionBytes, Math.floor(room / found.length))
  const texts: string[] = []
  for (const one of found) {
    input.signal.throwIfAborted()
    texts.push(await captureSession(one, { ctx, session, maxBytes, clean: cleanerOf(ctx) }))
  }
  return texts
}

async function takeFiles(
  ctx: ReferenceContext,
  { maxFiles, fileBytes }: ReferenceLimits,
  { mentions, input }: Asked,
  room: number,
): Promise<FileReference[]> {
  const files: FileReference[] = []
  if (mentions.words.length === 0) return files
  let left = room
  const { session } = input.agent
  const price = imagePrice(input.model)
  const putImage = async (bytes: Uint8Array, image: Image) => {
    const taken = price({ ...image, hash: '' }) * BYTES_PER_TOKEN
    if (taken > left) return undefined
    left -= taken
    return { ...image, hash: await session.putBlob(bytes) }
  }
  const options = await fileOptionsOf(ctx, input, putImage)
  for (const word of mentions.words.slice(0, MAX_WORDS)) {
    input.signal.throwIfAborted()
    const hasRoom = files.length < maxFiles && left >= MIN_FILE_BYTES
    const file = await takeFile(word, hasRoom ? Math.min(fileBytes, left) : 0, options)
    if (file) files.push(file)
    if (file?.kind === 'text') left -= Buffer.byteLength(file.text)
  }
  return files
}

async function fileOptionsOf(
  ctx: ReferenceContext,
  { agent, model }: PreStepInput,
  putImage: NonNullable<FileOptions['putImage']>,
): Promise<FileOptions> {
  const { session, authority, scope } = agent
  const { project } = session.header
  const actor = { sessionId: session.id, agentId: agent.id, project, authority, scope }
  const root = (await inspect(ctx.fs, project, async (target) => target.path)) ?? project
  return {
    fs: ctx.fs,
    cwd: session.cwd,
    isIgnored: createIgnored(ctx.fs, root),
    decide: (path) => ctx.policy.decide({ kind: 'fs:read', path }, actor),
    clean: cleanerOf(ctx),
    ...(model.info.input.includes('image') ? { putImage } : {}),
  }
}

/** Hides the values of known secrets. */
function cleanerOf(ctx: ReferenceContext): (text: string) => string {
  return (text) => ctx.get('credentials')?.redact(text.toWellFormed()) ?? text.toWellFormed()
}
