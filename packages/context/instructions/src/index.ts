import { createHash } from 'node:crypto'
import { dirname, join, relative, sep } from 'node:path'
import type { FileSystem } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { contains, type Authority } from '@cordage/core/policy'
import { z } from 'zod'

const config = z.strictObject({
  names: z
    .array(z.string())
    .default(['AGENTS.md', 'CLAUDE.md'])
    .describe('In each directory, every one of these that exists is read, in this order.'),
  maxBytes: z
    .number()
    .int()
    .min(0)
    .default(65_536)
    .describe(
      'UTF-8 bytes of all files together: broad ones are left out whole, then the last is cut.',
    ),
})

type InstructionsConfig = z.infer<typeof config>

interface Instruction {
  readonly path: string
  readonly text: string
}

/** A file as it was read: where it really is, and what says whether it is still the same. */
interface Known {
  readonly fingerprint: string
  readonly path: string
  readonly text: string
}

type MayRead = (path: string) => boolean

const MAX_KNOWN = 1_000

const authority: Authority = { mode: 'read-only', writableRoots: [] }

const plugin: Plugin<InstructionsConfig> = definePlugin({
  name: 'context-instructions',
  inject: ['prompt', 'fs', 'policy'],
  config,
  apply(ctx, options) {
    const read = createReader(ctx.fs)
    ctx.prompt.context(ctx, {
      id: 'instructions',
      order: -10,
      async render({ sessionId, project, cwd }) {
        const actor = { sessionId, agentId: sessionId, project, authority }
        // A name may be a link to anything: what it reaches is asked about, as for a tool.
        const mayRead: MayRead = (path) =>
          ctx.policy.decide({ kind: 'fs:read', path }, actor).answer === 'allow'
        const paths = directories(project, cwd).flatMap((folder) =>
          options.names.map((name) => join(folder, name)),
        )
        const found = await readAll(paths, (path) => read(path, mayRead))
        return found.length === 0 ? undefined : framed(project, fit(found, options.maxBytes))
      },
    })
  },
})

export default plugin

/** The project's root and every directory below it down to the current one, broadest first. */
function directories(project: string, cwd: string): string[] {
  const below = relative(project, cwd)
  if (below === '' || !contains(project, cwd)) return [project]
  const parts = below.split(sep)
  return [project, ...parts.map((_, index) => join(project, ...parts.slice(0, index + 1)))]
}

async function readAll(
  paths: readonly string[],
  read: (path: string) => Promise<string | undefined>,
): Promise<Instruction[]> {
  const found: Instruction[] = []
  for (const path of paths) {
    const text = await read(path)
    // CLAUDE.md is often a link to AGENTS.md: one text is said once.
    const said = found.some((other) => dirname(other.path) === dirname(path) && other.text === text)
    if (text !== undefined && text.trim() !== '' && !said) found.push({ path, text })
  }
  return found
}

/** Reads a file again only once it is another one: this is asked before every step. */
function createReader(fs: FileSystem) {
  const files = new Map<string, Known>()
  return async (path: string, mayRead: MayRead): Promise<string | undefined> => {
    const fingerprint = await fs.fingerprint(path)
    if (fingerprint === '') return undefined
    const known = files.get(path)
    if (known && known.fingerprint === fingerprint) {
      return mayRead(known.path) ? known.text : undefined
    }
    const file = await readText(fs, path, mayRead)
    if (files.size >= MAX_KNOWN) files.clear()
    if (file && fingerprint !== undefined) files.set(path, { fingerprint, ...file })
    return file?.text
  }
}

async function readText(
  fs: FileSystem,
  path: string,
  mayRead: MayRead,
): Promise<Omit<Known, 'fingerprint'> | undefined> {
  try {
    await using target = await fs.target(path)
    if (!mayRead(target.path)) return undefined
    const stat = await target.stat()
    if (stat?.kind !== 'file') return undefined
    const { bytes } = await target.read()
    return { path: target.path, text: new TextDecoder().decode(bytes) }
  } catch (error) {
    // A file that is gone or may not be read gives no instructions; anything else is a fault.
    if (isHarnessError(error)) return undefined
    throw error
  }
}

interface Fitted {
  readonly kept: readonly Instruction[]
  readonly dropped: readonly string[]
  readonly cut: boolean
}

function fit(found: readonly Instruction[], maxBytes: number): Fitted {
  const kept = [...found]
  const dropped: string[] = []
  let total = kept.reduce((sum, file) => sum + Buffer.byteLength(file.text), 0)
  while (total > maxBytes && kept.length > 1) {
    const broadest = kept.shift()
    if (!broadest) break
    dropped.push(broadest.path)
    total -= Buffer.byteLength(broadest.text)
  }
  const last = kept[0]
  if (total <= maxBytes || !last) return { kept, dropped, cut: false }
  // `stream` drops a character that the cut would halve instead of replacing it.
  const head = Buffer.from(last.text).subarray(0, maxBytes)
  const text = new TextDecoder().decode(head, { stream: true })
  return { kept: [{ path: last.path, text }], dropped, cut: true }
}

/** The tag carries a digest of the content, so that no content can close its own frame. */
function framed(project: string, { kept, dropped, cut }: Fitted): string {
  const lines = ['Instructions of this project. Nearer files win over broader ones.']
  for (const { path, text } of kept) {
    const tag = `file-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`
    const name = JSON.stringify(relative(project, path))
    lines.push(`<${tag} path=${name}>`, text.trimEnd(), `</${tag}>`)
  }
  if (cut) lines.push('The file above was cut: it exceeds the budget for instructions.')
  if (dropped.length > 0) {
    const names = dropped.map((path) => JSON.stringify(relative(project, path)))
    lines.push(`Left out for want of room: ${names.join(', ')}.`)
  }
  return lines.join('\n')
}
