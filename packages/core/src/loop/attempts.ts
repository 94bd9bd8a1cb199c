import { isHarnessError } from '../error/index.ts'
import {
  costOf,
  NO_USAGE,
  toolCallsOf,
  type ContentPart,
  type Message,
  type Usage,
  newId,
} from '../message/index.ts'
import { createAssembler, estimateTokens, modelError, type ResolvedModel } from '../model/index.ts'
import { assistantMessage, attemptFailed, attemptStart } from '../session/index.ts'
import { askHook } from './ask-hook.ts'
import { classify, type Answer, type AnswerKind } from './answer.ts'
import type { WrittenBody } from './body-text.ts'
import { bounded } from './bounded.ts'
import { changeRoute } from './change-route.ts'
import type { EnteredStep } from './enter.ts'
import { failureOf } from './errors.ts'
import {
  request as requestHook,
  requestError,
  type RequestErrorInput,
  type RequestErrorResult,
} from './hooks.ts'
import type { TurnRun } from './run.ts'
import { OVER, readAnswer, type Attempt } from './stream.ts'

export interface StepAnswer {
  readonly kind: Exclude<AnswerKind, 'empty' | 'filtered'>
  readonly message: Message
}

/** What an attempt came to: an answer, or how far it had come when it failed. */
type Tried =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly partial: Answer; readonly error: unknown }

/**
 * Tries the request of a step until one attempt brings an answer or a hook gives up. Each attempt
 * is a fact with its usage; the request is the same for all of them while the surface and the model
 * are.
 */
export async function answerStep(run: TurnRun, entered: EnteredStep): Promise<StepAnswer> {
  const { session } = run.agent
  const { step } = entered
  let now = entered
  let sent = await prepare(run, now.model)
  for (let attempt = 1, tries = 1; ; attempt += 1, tries += 1) {
    run.signal.throwIfAborted()
    const { request, body, written, url } = sent
    const { digest } = written
    const at = url === undefined ? {} : { url }
    const place = { turn: run.turn, step, attempt }
    const changed = run.requests.begin(session, written, place)
    // Brings what began the step to the disk, before the model is called.
    await session.append([...changed, attemptStart({ ...place, digest, ...at })])
    const tried = await tryOnce(run, now.model, { request, body, attempt, digest, step })
    // Not tried again: an answer that could not be written is in the session all the same.
    if (tried.kind === 'answered') return commit(run, now, attempt, tried.answer, written)
    const next = await fail(run, now, { attempt, tries }, tried, written)
    await pause(run, next.delayMs)
    if (next.model) {
      now = await changeRoute(run, now, next.model)
      tries = 0
    }
    if (next.model || session.surface !== sent.surface) sent = await prepare(run, now.model)
  }
}

/** The request of the surface as it is now, as it goes out and as it is written down. */
async function prepare(run: TurnRun, model: ResolvedModel) {
  const { session } = run.agent
  const { surface } = session
  const request = run.requests.build(session, model)
  const body = await bounded(run, 'The route', () => model.route.body(request))
  const url = model.route.endpoint?.()
  return { surface, request, body, url, written: run.requests.bodies.write(body) }
}

async function tryOnce(
  run: TurnRun,
  model: ResolvedModel,
  send: Omit<Attempt, 'assembler' | 'over'>,
): Promise<Tried> {
  const { agent, turn, signal, index } = run
  const name = `${model.provider}/${model.model}`
  const assembler = createAssembler({
    model: name,
    tools: send.request.tools,
    isTaken: (id) => index.at(agent.session.surface).calls.has(id),
  })
  const attempt = { ...send, assembler, over: new AbortController() }
  let answer: Answer | undefined
  try {
    const { body: _, ...sent } = send
    answer = await askHook(
      run,
      requestHook,
      { ...sent, agent, turn, signal },
      {
        otherwise: () => readAnswer(run, model, attempt),
        isUsable: ({ content }) => Array.isArray(content),
        waiting: name,
      },
    )
    const kind = classify(answer)
    if (kind === 'empty') throw modelError('EMPTY_RESPONSE', { model: name })
    if (kind === 'filtered') throw modelError('CONTENT_FILTERED', { model: name })
    return { kind: 'answered', answer }
  } catch (error) {
    return { kind: 'failed', partial: answer ?? assembler.finish(), error }
  } finally {
    attempt.over.abort(OVER)
  }
}

/** Logs a whole answer. Calls that an output limit cut are left out: nothing of them may run. */
async function commit(
  run: TurnRun,
  { step, model }: EnteredStep,
  attempt: number,
  answer: Answer,
  body: WrittenBody,
): Promise<StepAnswer> {
  const kind = classify(answer) as StepAnswer['kind']
  const content = kind === 'cut' ? withoutCalls(answer.content) : answer.content
  const message = assistantOf(model, content)
  const spent = settle(run, model, answer, body)
  const { turn } = run
  const { finish = 'stop', replay } = answer
  await run.agent.session.append(
    [
      assistantMessage({
        turn,
        step,
        attempt,
        message,
        finish,
        ...spent,
        ...(replay === undefined ? {} : { replay }),
      }),
    ],
    { later: true },
  )
  return { kind, message }
}

/** How a step goes on after a failure: later, and by another model where one is given. */
interface Next {
  readonly delayMs: number
  readonly model?: ResolvedModel
}

/** Logs a failed attempt and says how to go on; rejects when nobody wants to. */
async function fail(
  run: TurnRun,
  { step, model }: EnteredStep,
  { attempt, tries }: { attempt: number; tries: number },
  { partial, error: cause }: Extract<Tried, { kind: 'failed' }>,
  body: WrittenBody,
): Promise<Next> {
  const { agent, turn, signal } = run
  const place = { turn, step, attempt }
  const said = partial.hasText || partial.hasReasoning
  const billed = partial.usage !== undefined || partial.content.length > 0
  const spent = billed ? settle(run, model, partial, body) : {}

  if (signal.aborted && said) {
    const message = assistantOf(model, withoutCalls(partial.content))
    await agent.session.append([
      assistantMessage({ ...place, message, finish: 'cancelled', interrupted: true, ...spent }),
    ])
    throw signal.reason
  }
  const known = isHarnessError(cause) ? cause : undefined
  const error = {
    ...failureOf(cause),
    retryable: known?.retryable ?? false,
    details: known?.details ?? {},
  }
  const { code, message, retryable } = error
  const failed = {
    ...place,
    error: { code, message, retryable, ...rejectedBy(error.details) },
    ...spent,
    ...(said ? { partial: shownText(partial) } : {}),
  }
  let next: Next | undefined
  try {
    signal.throwIfAborted()
    next = await askNext(run, { agent, ...place, tries, model, error, billed, signal })
  } catch (failure) {
    const cancelled = { code: 'CANCELLED', message: 'Cancelled.', retryable: false }
    const told = signal.aborted ? { ...failed, error: cancelled } : failed
    await agent.session.append([attemptFailed(told)])
    throw signal.aborted ? signal.reason : failure
  }
  const goesTo = next?.model && { nextModel: `${next.model.provider}/${next.model.model}` }
  const retry = next ? { retryInMs: next.delayMs, ...goesTo } : {}
  await agent.session.append([attemptFailed({ ...failed, ...retry })])
  if (!next) throw cause
  return next
}

async function askNext(run: TurnRun, input: RequestErrorInput): Promise<Next | undefined> {
  const verdict = await askHook(run, requestError, input, { otherwise: giveUp, isUsable })
  if (verdict.kind === 'fail') return undefined
  const { delayMs, model } = verdict
  return { delayMs, ...(model === undefined ? {} : { model: run.services.models.resolve(model) }) }
}

function rejectedBy({ rejected }: { readonly rejected?: unknown }) {
  return rejected === 'reasoning' ? ({ rejected } as const) : {}
}

const giveUp = (): RequestErrorResult => ({ kind: 'fail' })

function isUsable({ kind, delayMs, model = '' }: { [key in string]: unknown }): boolean {
  const retries = kind === 'retry' && Number.isFinite(delayMs) && typeof model === 'string'
  return kind === 'fail' || retries
}

async function pause(run: TurnRun, delayMs: number): Promise<void> {
  run.waiting(`retry in ${Math.ceil(delayMs / 1000)} s`)
  try {
    await new Promise<void>((resolve) => {
      const stopTimer = run.clock.after(delayMs, done)
      function done() {
        stopTimer()
        run.signal.removeEventListener('abort', done)
        resolve()
      }
      run.signal.addEventListener('abort', done, { once: true })
      if (run.signal.aborted) done()
    })
  } finally {
    run.waiting(undefined)
  }
}

/** Charges the account; a route that reports nothing is charged by estimate, marked as such. */
function settle(run: TurnRun, { info }: ResolvedModel, answer: Answer, body: WrittenBody) {
  const usage: Usage = answer.usage ?? {
    ...NO_USAGE,
    inputTokens: estimateTokens(body.text()),
    outputTokens: estimateTokens(shownText(answer)) + estimateCalls(answer),
    estimated: true,
  }
  const costUsd = costOf(usage, info.price)
  run.agent.account.settle(usage, costUsd)
  return { usage, ...(costUsd === undefined ? {} : { costUsd }) }
}

function assistantOf({ provider, model }: ResolvedModel, content: readonly ContentPart[]): Message {
  const source = { kind: 'model', provider, model } as const
  return { id: newId(), role: 'assistant', content, source }
}

function withoutCalls(content: readonly ContentPart[]): ContentPart[] {
  return content.filter((part) => part.type === 'text' || part.type === 'reasoning')
}

function estimateCalls({ content }: Answer): number {
  return toolCallsOf({ content }).reduce((sum, call) => {
    return sum + estimateTokens(call.name) + estimateTokens(call.arguments)
  }, 0)
}

function shownText(answer: Answer): string {
  return answer.content
    .map((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : ''))
    .join('')
}
