import { defineHook, type Scope } from '../kernel/index.ts'
import { NO_USAGE, textOf, type Usage } from '../message/index.ts'
import { createAssembler, type Assembled } from './assemble.ts'
import { estimateTokens } from './estimate.ts'
import type { ResolvedModel } from './provider.ts'
import type { ModelRequest } from './request.ts'

/** A request besides those of steps, as for a summary. */
export interface SideCallInput {
  readonly sessionId: string
  readonly purpose: 'summary' | 'title' | (string & {})
  readonly model: ResolvedModel
  readonly request: ModelRequest
  readonly signal: AbortSignal
}

export interface SideAnswer {
  /** What came, also where it ended in an error. Its usage is estimated where none was reported. */
  readonly answer: Assembled
  readonly error?: unknown
}

/** Around each such request: a handler may answer, refuse (throw) or observe, never change it. */
export const sideCall = defineHook<SideCallInput, SideAnswer>('models/side-call')

/** Sends the request of `input` once. Rejects only with what a handler throws. */
export function callModel(scope: Scope, input: SideCallInput): Promise<SideAnswer> {
  return sideCall.run(scope.ctx, input, send, scope)
}

async function send({ model, request, signal }: SideCallInput): Promise<SideAnswer> {
  const { route, provider } = model
  const { tools } = request
  const assembler = createAssembler({ model: `${provider}/${model.model}`, tools })
  let body: unknown
  try {
    body = await route.body(request)
    for await (const event of route.stream(request, body, { signal })) assembler.push(event)
    return { answer: charged(assembler.finish(), body) }
  } catch (error) {
    return { answer: charged(assembler.finish(), body), error }
  }
}

function charged(answer: Assembled, body: unknown): Assembled {
  if (answer.usage || body === undefined) return answer
  const usage: Usage = {
    ...NO_USAGE,
    inputTokens: estimateTokens(JSON.stringify(body)),
    outputTokens: estimateTokens(textOf(answer)),
    estimated: true,
  }
  return { ...answer, usage }
}
