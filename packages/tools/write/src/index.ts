import { environmentError, type Target } from '@cordage/core/environment'
import { definePlugin } from '@cordage/core/kernel'
import {
  decodeText,
  defineTool,
  describeChange,
  encodeText,
  escapeFileName,
  requireSeenWhole,
  type TextChange,
  type ToolRun,
} from '@cordage/core/tool'
import { resolve } from 'node:path'
import { z } from 'zod'

const parameters = z.strictObject({ file_path: z.string().min(1), content: z.string() })

type Arguments = z.output<typeof parameters>

export interface WriteValue extends TextChange {
  readonly path: string
  readonly created: boolean
  /** Kept from the file that was there. */
  readonly kept?: { readonly eol: string; readonly encoding: string; readonly bom: boolean }
}

export default definePlugin({
  name: '@cordage/tool-write',
  inject: ['tools'],
  apply: (ctx) => {
    ctx.tools.register(ctx, tool)
  },
})

const tool = defineTool<Arguments, WriteValue>({
  name: 'write',
  description:
    'Writes a whole file, making its directories. An existing file must have been read before; ' +
    'prefer edit for changes.',
  parameters,
  effects: ({ file_path }, { cwd }) => {
    const path = resolve(cwd, file_path)
    return [
      { kind: 'fs:read', path },
      { kind: 'fs:write', path },
    ]
  },
  execute: writeFile,
  reconcile: compare,
  render: renderWritten,
  title: ({ file_path }) => `write ${file_path}`,
})

/** Whether the file holds what was to be written, in whatever encoding it has. */
async function compare(args: Arguments, { fs }: Pick<ToolRun, 'fs'>): Promise<string> {
  await using target = await fs.forRead(args.file_path)
  if (!(await target.stat())) return `${args.file_path} does not exist: it was not written.`
  const { bytes } = await target.read()
  const file = decodeText(bytes)
  const wanted = file ? encodeText(file, args.content) : Buffer.from(args.content, 'utf8')
  return Buffer.compare(wanted, bytes) === 0
    ? `${args.file_path} holds exactly what was to be written.`
    : `${args.file_path} holds something else than what was to be written.`
}

async function writeFile(args: Arguments, run: ToolRun): Promise<WriteValue> {
  await using target = await run.fs.forWrite(args.file_path, { parents: true })
  const { path } = target
  const stat = await target.stat()
  if (stat?.kind === 'directory') throw environmentError('FILE_IS_DIRECTORY', { path })
  if (!stat) {
    const bytes = Buffer.from(args.content, 'utf8')
    const version = await target.write(bytes, { expect: 'absent' })
    run.seen.set(path, { version, whole: true })
    return { path, created: true, ...(await describeChange('', args.content)) }
  }
  // Awaited here: the target is released when this function returns.
  return await overwrite(args.content, target, run)
}

/** Encoding, BOM and line endings are not shown by `read`, so they stay what they were. */
async function overwrite(content: string, target: Target, run: ToolRun): Promise<WriteValue> {
  const { path } = target
  const seen = requireSeenWhole(run, path)
  const { bytes } = await target.read()
  const file = decodeText(bytes)
  const after = file ? encodeText(file, content) : Buffer.from(content, 'utf8')
  const version = await target.write(after, { expect: seen.version })
  run.seen.set(path, { version, whole: true })
  const change = await describeChange(file?.text ?? '', plainEndings(content, file?.eol))
  if (!file) return { path, created: false, ...change }
  const { eol, encoding, bom } = file
  return { path, created: false, ...change, kept: { eol, encoding, bom } }
}

/** As the text of a file is compared: without the `\r` that every line of it has. */
function plainEndings(content: string, eol: string | undefined): string {
  return eol === '\r\n' ? content.replaceAll('\r\n', '\n') : content
}

function renderWritten({ path, created, added, removed, kept }: WriteValue): string {
  const name = escapeFileName(path)
  if (created) return `Created ${name}, ${added} ${added === 1 ? 'line' : 'lines'}.`
  const endings = kept?.eol === '\r\n' ? ' Its CRLF line endings were kept.' : ''
  return `Overwrote ${name}: lines +${added} -${removed}.${endings}`
}
