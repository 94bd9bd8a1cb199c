import type { Agent, TurnOutcome } from '../agent/index.ts'
import { claimable } from '../agent/index.ts'
import { describe, isHarnessError } from '../error/index.ts'
import { describeFailure, log } from '../kernel/index.ts'
import { toolCallsOf, type Message, newId } from '../message/index.ts'
import {
  attemptFailed,
  missingResults,
  stepEnd,
  turnEnd,
  turnStart,
  type Failure,
  type NewFact,
  type Session,
  type TurnEndReason,
} from '../session/index.ts'
import { runBatch, toolError } from '../tool/index.ts'
import { askHook } from './ask-hook.ts'
import { answerStep } from './attempts.ts'
import { enterStep, note, type EnteredStep } from './enter.ts'
import { failureOf, loopError } from './errors.ts'
import { turnStopping, type TurnStoppingResult } from './hooks.ts'
import type { TurnRun } from './run.ts'

interface Ending {
  readonly reason: TurnEndReason
  readonly error?: Failure
}

const EMPTY_NUDGE = 'Your last answer was empty. Answer, or call a tool.'
const REASONING_NUDGE =
  'Your last answer held only reasoning, which nobody sees. Say your answer, or call a tool.'
const CUT_NUDGE =
  'Your last answer was cut at the output limit. Go on exactly where it stopped, in smaller ' +
  'parts. A tool call that was being written has not run: make it again, shorter.'

/** Runs one turn from `turn/start` to a durable `turn/end`, whatever happens in between. */
export async function runTurn(run: TurnRun): Promise<TurnOutcome> {
  const { session } = run.agent
  let ending: Ending
  try {
    await session.append([turnStart({ turn: run.turn })], { later: true })
    ending = await runSteps(run)
  } catch (error) {
    ending = endingOf(run, error)
  }
  return finish(run, ending)
}

async function runSteps(run: TurnRun): Promise<Ending> {
  const tries = { cut: 0, nudges: 0, continued: 0 }
  for (let steps = 0; ; steps += 1) {
    run.signal.throwIfAborted()
    const entered = await enterStep(run, steps === 0)
    if (entered.kind === 'nothing') return { reason: 'completed' }
    if (entered.kind === 'rejected') return blocked(entered.reason)

    const next = await runStep(run, entered, tries)
    await run.agent.session.append([stepEnd({ turn: run.turn, step: entered.step })], {
      later: true,
    })
    if (next === 'step' || claimable(run.agent.session.inbox, false).length > 0) continue
    if (typeof next === 'object') return next
    const stopping = await askToStop(run, steps + 1, tries)
    if (stopping) return stopping
  }
}

/** One request and its batch. Says whether another step follows, or how the turn ends. */
async function runStep(
  run: TurnRun,
  entered: EnteredStep,
  tries: { cut: number; nudges: number },
): Promise<'step' | 'done' | Ending> {
  const answer = await answerOrNudge(run, entered, tries)
  if (answer === 'nudged') return 'step'
  if (answer.kind !== 'cut') tries.cut = 0
  if (answer.kind === 'calls') {
    tries.nudges = 0
    await runCalls(run, entered, answer.message)
    return 'step'
  }
  if (answer.kind === 'reasoning-only') return nudge(run, entered, tries, REASONING_NUDGE)
  if (answer.kind === 'final') return 'done'

  tries.cut += 1
  if (tries.cut < run.config.maxCutAnswers) {
    run.notes.push(note(CUT_NUDGE))
    return 'step'
  }
  const { maxTokens } = entered.model.info
  const error = loopError('ANSWER_CUT', { maxTokens, times: tries.cut })
  return { reason: 'max-tokens', error: describe(error) }
}

async function answerOrNudge(run: TurnRun, entered: EnteredStep, tries: { nudges: number }) {
  try {
    return await answerStep(run, entered)
  } catch (error) {
    if (!isHarnessError(error, 'EMPTY_RESPONSE') || run.signal.aborted) throw error
    nudge(run, entered, tries, EMPTY_NUDGE)
    return 'nudged' as const
  }
}

function nudge(
  run: TurnRun,
  { model }: EnteredStep,
  tries: { nudges: number },
  text: string,
): 'step' {
  tries.nudges += 1
  if (tries.nudges > 1) {
    throw loopError('ANSWER_EMPTY', { provider: model.provider, model: model.model })
  }
  run.notes.push(note(text))
  return 'step'
}

async function runCalls(run: TurnRun, entered: EnteredStep, message: Message): Promise<void> {
  const { agent, ctx, config, clock, endingSince, signal, seen, turn } = run
  const { session, scope, account } = agent
  const actor = {
    sessionId: session.id,
    agentId: agent.id,
    get authority() {
      return agent.authority
    },
  }
  run.waiting('tools')
  try {
    const refused = await runBatch({
      ctx,
      session,
      scope,
      actor,
      account,
      signal,
      seen,
      turn,
      toolset: entered.toolset,
      calls: toolCallsOf(message),
      step: entered.step,
      cwd: session.cwd,
      project: session.header.project,
      maxParallel: config.maxParallelToolCalls,
      graceMs: config.cancelGraceMs,
      clock,
      endingSince,
      waiting: (what) => run.waiting(what ?? 'tools'),
    })
    // The results have told the model; another step could only be refused more.
    if (refused) throw refused
  } finally {
    run.waiting(undefined)
  }
}

async function askToStop(
  run: TurnRun,
  steps: number,
  tries: { continued: number },
): Promise<Ending | undefined> {
  const { agent, turn, signal } = run
  const input = { agent, turn, steps, answer: lastAnswer(agent, turn), signal }
  const verdict = await askHook(run, turnStopping, input, {
    otherwise: stop,
    isUsable: (given) => given.kind === 'stop' || isMore(given),
  })
  if (verdict.kind === 'stop') return { reason: verdict.reason ?? 'completed' }
  tries.continued += 1
  if (tries.continued > run.config.maxContinuations) return { reason: 'completed' }
  run.notes.push(note(verdict.text))
  return undefined
}

const stop = (): TurnStoppingResult => ({ kind: 'stop' })

function isMore({ kind, text }: { kind: string; text?: string }): boolean {
  return kind === 'continue' && typeof text === 'string'
}

/** Writes the end. The outcome is told even where the log cannot take it: then as that error. */
async function finish(run: TurnRun, ending: Ending): Promise<TurnOutcome> {
  const { agent, turn } = run
  const answer = lastAnswer(agent, turn)
  const outcome = { turn, ...ending, ...(answer ? { answer } : {}) }
  try {
    await agent.session.append([
      ...openEnds(agent.session, run.config.cancelGraceMs, ending.error),
      turnEnd({ turn, ...ending }),
    ])
    return outcome
  } catch (error) {
    return { ...outcome, reason: 'error', error: describe(error) }
  }
}

/** What an error left open: calls without a result, an attempt that was not made, and the step. */
function openEnds(session: Session, graceMs: number, error: Failure | undefined): NewFact[] {
  const { turn, step, stepOpen, attempt, attemptOpen } = session.turn
  const results = missingResults(session.turn, newId, (tool, dispatched) => {
    return describe(
      dispatched
        ? toolError('TOOL_OUTCOME_UNKNOWN', { tool, graceMs })
        : toolError('TOOL_NOT_STARTED', { tool }),
    )
  })
  const place = { turn, step, attempt }
  const failed = error && attemptFailed({ ...place, error: { ...error, retryable: false } })
  return [
    ...results,
    ...(attemptOpen && failed ? [failed] : []),
    ...(stepOpen ? [stepEnd({ turn, step })] : []),
  ]
}

function endingOf(run: TurnRun, error: unknown): Ending {
  const reason: unknown = run.signal.aborted ? run.signal.reason : error
  if (isHarnessError(reason, 'BUDGET_EXCEEDED')) {
    return { reason: 'budget', error: describe(reason) }
  }
  if (run.signal.aborted) {
    return { reason: 'aborted', error: { code: 'ABORTED', message: abortText(reason) } }
  }
  if (isHarnessError(error) && error.cause === undefined) {
    return { reason: 'error', error: describe(error) }
  }
  // What is told has nothing of a foreign error but its name.
  log(run.ctx, 'error', `turn ${run.turn} failed`, { error: describeFailure(error) })
  return { reason: 'error', error: failureOf(error) }
}

function abortText(reason: unknown): string {
  return typeof reason === 'string' ? reason : 'The turn was cancelled.'
}

function blocked(reason: string): Ending {
  return { reason: 'blocked', error: describe(loopError('INPUT_REJECTED', { reason })) }
}

/** What the turn said last, once it asked for nothing more: words before a call are no answer. */
function lastAnswer(agent: Agent, turn: number): Message | undefined {
  const { surface } = agent.session
  const entry = surface.findLast(({ message }) => message.role === 'assistant')
  if (entry?.step?.turn !== turn || toolCallsOf(entry.message).length > 0) return undefined
  return entry.message
}
