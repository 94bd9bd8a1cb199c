import { assert, createRegistry } from '../kernel/index.ts'
import type { Context, Entry } from '../kernel/index.ts'
import { deepFreeze, stabilities, type ToolSpec } from '../session/index.ts'
import { schemaOf } from './schema.ts'
import type { Tool } from './tool.ts'
import type { ResolvedToolSet, Tools, ToolStatus } from './tools.ts'

const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/

type Restriction = { readonly names: ReadonlySet<string>; readonly reason: string }
type StepInput = Parameters<Tools['resolve']>[1]

/** The tools of all scopes and what is hidden from whom. */
export function createTools(maxInlineChars: number): Tools {
  const registry = createRegistry<Tool>('tool')
  const restrictions = createRegistry<Restriction>('tool restriction')
  let restricted = 0

  const register = (ctx: Context, tool: Tool) => {
    assert(TOOL_NAME.test(tool.name), `"${tool.name}" is no tool name that every model takes`)
    assert(tool.description.trim() !== '', `tool ${tool.name} has no description`)
    const { stability = 'stable' } = tool
    assert(stabilities.includes(stability), `tool ${tool.name} is declared "${stability}"`)
    schemaOf(tool.parameters)
    registry.add(ctx, tool.name, tool)
  }
  return {
    maxInlineChars,
    register: (ctx, tool) => register(ctx, tool as Tool),
    restrict: (ctx, names, reason) => {
      restrictions.add(ctx, String(restricted++), { names: new Set(names), reason })
    },
    resolve: (scope, input) => {
      const hidden = restrictions.list(scope).map((entry) => entry.value)
      return resolveTools(registry.listOwn(scope), hidden, input)
    },
  }
}

function resolveTools(
  entries: readonly Entry<Tool>[],
  hidden: readonly Restriction[],
  input: StepInput,
): ResolvedToolSet {
  // Whatever the order of loading, so that a request's prefix stays the same.
  const sorted = [...entries].sort((a, b) => rankOf(a) - rankOf(b) || (a.id < b.id ? -1 : 1))
  const judged = sorted.map((entry) => ({ entry, status: statusOf(entry, hidden, input) }))
  const offered = judged.filter(({ status }) => status.offered).map(({ entry }) => entry)
  return Object.freeze({
    tools: new Map(offered.map(({ id, value }) => [id, value])),
    specs: Object.freeze(offered.map(({ value }) => specOf(value))),
    rows: new Map(offered.map(({ id, row }) => [id, row])),
    status: Object.freeze(judged.map(({ status }) => status)),
  })
}

const rankOf = ({ value }: Entry<Tool>) => stabilities.indexOf(value.stability ?? 'stable')

function statusOf(
  { id, row, value }: Entry<Tool>,
  hidden: readonly Restriction[],
  input: StepInput,
): ToolStatus {
  const withheld = (reason: string): ToolStatus => ({ name: id, row, offered: false, reason })
  const restriction = hidden.find(({ names }) => names.has(id))
  if (restriction) return withheld(restriction.reason)
  try {
    const answer = value.when?.(input) ?? true
    if (answer === true) return { name: id, row, offered: true }
    return withheld(String(answer))
  } catch {
    // A condition that fails is not met; the reason is what a person can act on.
    return withheld(`the condition of row ${row} failed`)
  }
}

const specs = new WeakMap<Tool, ToolSpec>()

/** One frozen object for each tool, so that a step can tell quickly that nothing has changed. */
function specOf(tool: Tool): ToolSpec {
  const known = specs.get(tool)
  if (known) return known
  const { name, description, parameters } = tool
  const spec = deepFreeze({ name, description, parameters: structuredClone(schemaOf(parameters)) })
  specs.set(tool, spec)
  return spec
}
