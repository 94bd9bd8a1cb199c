import { isDeepStrictEqual } from 'node:util'
import { estimateTokens, type ResolvedModel } from '../model/index.ts'
import type { PromptPart } from '../prompt/index.ts'
import {
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
  const header = {
    provider,
    model,
    params,
    tools: [...toolset.specs],
    origin: originOf(parts),
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

/** Which row contributed which part of the request's fixed beginning, and its estimated tokens. */
function originOf({ toolset, sections }: HeaderParts): RequestHeader['origin'] {
  return [
    ...sections.map(({ id, row, tokens }) => ({ part: `system: ${id}`, row, tokens })),
    ...toolset.specs.map((spec) => ({
      part: `tool: ${spec.name}`,
      row: toolset.rows.get(spec.name) ?? '',
      tokens: tokensOf(spec),
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
