import { describe, isHarnessError } from '../error/index.ts'
import {
  costOf,
  NO_USAGE,
  toolCallsOf,
  type ContentPart,
  type Message,
  type Usage,
  newId,
} from '../message/index.ts'
import {
  estimateTokens,
  modelError,
  type ModelRequest,
  type ResolvedModel,
} from '../model/index.ts'
import { assistantMessage, attemptFailed, attemptStart } from '../session/index.ts'
import { classify, type Answer, type AnswerKind } from './answer.ts'
import type { WrittenBody } from './body-text.ts'
import { bounded } from './bounded.ts'
import type { EnteredStep } from './enter.ts'
import { request as requestHook, requestError } from './hooks.ts'
import { MAX_TIMER_MS } from './max-timer.ts'
import type { TurnRun } from './run.ts'
import { AttemptError, readAnswer } from './stream.ts'

export interface StepAnswer {
  readonly kind: Exclude<AnswerKind, 'empty' | 'filtered'>
  readonly message: Message
}

interface Attempt {
  readonly request: ModelRequest
  readonly body: unknown
  readonly attempt: number
  readonly digest: string
}

/**
 * Tries the request of a step until one attempt brings an answer or a hook gives up. Each attempt
 * is a fact with its usage; the request is the same for all of them.
 */
export async function answerStep(run: TurnRun, entered: EnteredStep): Promise<StepAnswer> {
  const { session } = run.agent
  const request = run.requests.build(session, entered.model)
  const body = await entered.model.route.body(request)
  const written = run.requests.bodies.write(body)
  for (let attempt = 1; ; attempt += 1) {
    run.signal.throwIfAborted()
    const { turn } = run
    const { step } = entered
    // Brings what began the step to the disk, before the model is called.
    await session.append([attemptStart({ turn, step, attempt, digest: written.digest })])
    let answer: Answer
    try {
      answer = await tryOnce(run, entered, { request, body, attempt, digest: written.digest })
    } catch (error) {
      await pause(run, await fail(run, entered, attempt, error, written))
      continue
    }
    // Not tried again: an answer that could not be written is in the session all the same.
    return commit(run, entered, attempt, answer, written)
  }
}

async function tryOnce(run: TurnRun, entered: EnteredStep, attempt: Attempt): Promise<Answer> {
  const { agent, turn, signal } = run
  const { step, model } = entered
  run.waiting(`${model.provider}/${model.model}`)
  try {
    const { request, digest } = attempt
    const input = { agent, turn, step, attempt: attempt.attempt, request, digest, signal }
    const read = () => readAnswer(run, model, { ...attempt, step })
    const answer = await bounded(
      requestHook.run(agent.scope.ctx, input, read, agent.scope),
      'A hook of agent/request',
      { signal, graceMs: run.config.cancelGraceMs },
    )
    const name = `${model.provider}/${model.model}`
    const kind = classify(answer)
    if (kind === 'empty') {
      throw new AttemptError(modelError('EMPTY_RESPONSE', { model: name }), answer)
    }
    if (kind === 'filtered') {
      throw new AttemptError(modelError('CONTENT_FILTERED', { model: name }), answer)
    }
    return answer
  } finally {
    run.waiting(undefined)
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

/** Logs a failed attempt and says after how long to try again; rejects when nobody wants to. */
async function fail(
  run: TurnRun,
  { step, model }: EnteredStep,
  attempt: number,
  thrown: unknown,
  body: WrittenBody,
): Promise<number> {
  const { agent, turn, signal } = run
  const partial = thrown instanceof AttemptError ? thrown.partial : undefined
  const cause = thrown instanceof AttemptError ? thrown.cause : thrown
  const place = { turn, step, attempt }
  const said = partial && (partial.hasText || partial.hasReasoning)
  const billed = partial && (partial.usage !== undefined || partial.content.length > 0)
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
    ...describe(cause),
    retryable: known?.retryable ?? false,
    details: known?.details ?? {},
  }
  const verdict = signal.aborted
    ? ({ kind: 'fail' } as const)
    : await bounded(
        requestError.run(
          agent.scope.ctx,
          { agent, ...place, model, error, billed: billed === true, signal },
          async () => ({ kind: 'fail' }),
          agent.scope,
        ),
        'A hook of agent/request-error',
        { signal, graceMs: run.config.cancelGraceMs },
      )
  const { code, message, retryable } = error
  await agent.session.append([
    attemptFailed({
      ...place,
      error: signal.aborted
        ? { code: 'CANCELLED', message: 'Cancelled.', retryable: false }
        : { code, message, retryable },
      ...spent,
      ...(said ? { partial: shownText(partial) } : {}),
      ...(verdict.kind === 'retry' ? { retryInMs: verdict.delayMs } : {}),
    }),
  ])
  if (verdict.kind === 'fail') throw signal.aborted ? signal.reason : cause
  return verdict.delayMs
}

async function pause(run: TurnRun, delayMs: number): Promise<void> {
  run.waiting(`retry in ${Math.ceil(delayMs / 1000)} s`)
  try {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, Math.min(delayMs, MAX_TIMER_MS))
      function done() {
        clearTimeout(timer)
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
