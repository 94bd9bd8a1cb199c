import { isDeepStrictEqual } from 'node:util'
import { estimateTokens, type ResolvedModel } from '../model/index.ts'
import type { PromptPart } from '../prompt/index.ts'
import {
  digest,
  requestContext,
  requestHeader,
  type NewFact,
  type RequestHeader,
  type RequestParams,
  type ToolSpec,
} from '../session/index.ts'
import type { ResolvedToolSet } from '../tool/index.ts'

interface HeaderParts {
  readonly model: ResolvedModel
  readonly params: RequestParams
  readonly toolset: ResolvedToolSet
  readonly sections: readonly PromptPart[]
  /** The choice whose place the model has taken. */
  readonly insteadOf?: RequestHeader['insteadOf']
}

/** Everything of a request that is not a message, where it is not what was logged `last`. */
export function headerFacts(last: RequestHeader | undefined, parts: HeaderParts): NewFact[] {
  const { model: resolved, params, toolset, insteadOf } = parts
  const { provider, model, info } = resolved
  const tools = inOrder(last?.tools, toolset.specs)
  const header = {
    provider,
    model,
    params,
    tools,
    origin: originOf(parts, tools),
    ...(insteadOf === undefined ? {} : { insteadOf }),
  }
  if (last && isSame(last, header)) return []
  const { contextWindow, maxTokens } = info
  return [
    requestHeader({ ...header, reason: last ? 'change' : 'initial' }),
    requestContext({ provider, model, contextWindow, maxTokens }),
  ]
}

function isSame(
  { tools: logged, ...last }: RequestHeader,
  { tools, ...rest }: Omit<RequestHeader, 'reason'>,
): boolean {
  const sameTools =
    logged.length === tools.length && logged.every((tool, at) => isSameTool(tool, tools[at]))
  return sameTools && isDeepStrictEqual(last, { ...rest, reason: last.reason })
}

/** The offered tool that a logged one was last found to be equal to. */
const equals = new WeakMap<ToolSpec, ToolSpec>()

function isSameTool(logged: ToolSpec, offered: ToolSpec | undefined): boolean {
  if (!offered) return false
  if (equals.get(logged) === offered) return true
  if (!isDeepStrictEqual(logged, offered)) return false
  equals.set(logged, offered)
  return true
}

/** New tools come after those that a session has had: these keep the places of their bytes. */
function inOrder(last: readonly ToolSpec[] = [], offered: readonly ToolSpec[]): ToolSpec[] {
  const byName = new Map(offered.map((tool) => [tool.name, tool]))
  const kept = last.flatMap(({ name }) => byName.get(name) ?? [])
  return [...new Set([...kept, ...offered])]
}

/** Which row contributed which part of the request's fixed beginning, and its estimated tokens. */
function originOf(
  { toolset, sections }: HeaderParts,
  tools: readonly ToolSpec[],
): RequestHeader['origin'] {
  return [
    ...sections.map(({ id, row, tokens, stability, text }) => {
      return { part: `system: ${id}`, row, tokens, stability, digest: digest(text).slice(0, 16) }
    }),
    ...tools.map((spec) => ({
      part: `tool: ${spec.name}`,
      row: toolset.rows.get(spec.name) ?? '',
      tokens: tokensOf(spec),
      stability: toolset.tools.get(spec.name)?.stability ?? 'stable',
    })),
  ]
}

const tokens = new WeakMap<ToolSpec, number>()

function tokensOf(spec: ToolSpec): number {
  const known = tokens.get(spec)
  if (known !== undefined) return known
  const estimated = estimateTokens(JSON.stringify(spec))
  tokens.set(spec, estimated)
  return estimated
}
