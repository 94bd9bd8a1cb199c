import type { Composition } from '@cordage/core/compose'
import { openScope } from '@cordage/core/kernel'
import { estimateTool } from '@cordage/core/model'
import type { Harness } from '../boot/boot.ts'
import { jsonText, oneLine, tableText } from '../print/table.ts'
import { didYouMean } from '@cordage/core/error'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

export interface ToolsOptions extends ListOptions {
  readonly preset?: string
  readonly model?: string
}

interface ToolLine {
  readonly name: string
  readonly row: string
  readonly offered: boolean
  /** Estimated, of what a model is told of it. */
  readonly tokens?: number
  readonly reason?: string
}

/** Which tools an agent's next step would have, and why another one is not there. */
export async function listTools(name: string | undefined, options: ToolsOptions): Promise<number> {
  return withHarness(options, async (harness) => {
    const { preset, lines, specs } = await toolsOf(harness, options)
    if (!lines.some(({ offered }) => offered)) {
      const which = preset === '' ? `The profile ${options.profile}` : `The preset ${preset}`
      process.stderr.write(`${which} offers no tool.\n`)
    }
    if (name === undefined) {
      const text = () => tableText(lines.map(lineText))
      process.stdout.write(options.output === 'json' ? jsonText(lines) : text())
      return 0
    }
    const found = lines.filter((line) => line.name === name || line.row === name)
    if (found.length === 0) throw unknownTool(name, lines)
    const details = found.map((line) => ({ ...line, ...specs.get(line.name) }))
    const text = () => details.map((detail) => jsonText(detail)).join('')
    process.stdout.write(options.output === 'json' ? jsonText(details) : text())
    return 0
  })
}

async function toolsOf({ ctx, composition }: Harness, options: ToolsOptions) {
  const presets = ctx.get('presets')
  const tools = ctx.get('tools')
  const models = ctx.get('models')
  if (!presets || !tools || !models) {
    const reason = `The profile ${options.profile} gives agents no tools at all.`
    throw cliError('USAGE', { reason })
  }
  const preset = options.preset ?? presets.default
  const model = options.model === undefined ? models.default() : models.resolve(options.model)
  const scope = openScope(ctx, 'cordage tools')
  try {
    const { rows } = preset === '' ? { rows: [] } : await presets.mount(scope, preset)
    const { provider = '', model: id = '', info } = model ?? {}
    const resolved = tools.resolve(scope, { provider, model: id, input: info?.input ?? ['text'] })
    const specs = new Map(resolved.specs.map((spec) => [spec.name, spec]))
    const known = resolved.status.map((status): ToolLine => {
      const spec = specs.get(status.name)
      return spec ? { ...status, tokens: estimateTool(spec) } : status
    })
    const refused = rows
      .filter(({ state }) => state !== 'active' && state !== 'disabled')
      .map(({ id, state, reason }) => absent(id, `${state}: ${reason ?? 'no reason given'}`))
    return { preset, lines: [...known, ...refused, ...elsewhere(composition, preset)], specs }
  } finally {
    await scope.close()
  }
}

/** Rows of tools that the composition knows but the preset does not mount. */
function elsewhere({ presets }: Composition, chosen: string): ToolLine[] {
  const own = presets.get(chosen)?.rows ?? []
  const disabled = own
    .filter((row) => row.disabled && row.id.startsWith('tool-'))
    .map((row) => {
      const { kind, file, line } = row.origins.get('disabled')!
      return absent(row.id, `disabled by the ${kind} at ${file}:${line}`)
    })
  const ids = new Set(own.map((row) => row.id))
  const others = [...presets.values()].flatMap(({ name, rows }) =>
    rows
      .filter((row) => row.id.startsWith('tool-') && !ids.has(row.id))
      .map((row) => absent(row.id, `only in the preset ${name}`)),
  )
  return [...disabled, ...others]
}

function absent(row: string, reason: string): ToolLine {
  return { name: row.replace(/^tool-/, ''), row, offered: false, reason }
}

function lineText({ name, row, offered, tokens, reason }: ToolLine): string[] {
  const state = offered ? `offered, ~${tokens ?? 0} tokens` : `not offered: ${reason ?? 'unknown'}`
  return [name, row, oneLine(state, 200)]
}

function unknownTool(name: string, lines: readonly ToolLine[]): Error {
  const hint =
    didYouMean(
      name,
      lines.map((line) => line.name),
    ) ?? 'See `cordage tools`.'
  return cliError('USAGE', { reason: `No tool is called "${name}". ${hint}` })
}
