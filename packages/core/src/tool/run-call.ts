import { escapeControls, isHarnessError, type HarnessError } from '../error/index.ts'
import { blame, describeFailure, log, reasonOf, RowError } from '../kernel/index.ts'
import type { Actor, Effect } from '../policy/index.ts'
import { deepFreeze, frozenJson, toolCall } from '../session/index.ts'
import type { ToolBatch } from './tool-batch.ts'
import { redactorOf } from './content.ts'
import { decideCall } from './decide-call.ts'
import { toolError } from './errors.ts'
import { createGrant } from './grant.ts'
import { changeFile, execute, postExecute } from './hooks.ts'
import type { CallContext, Rendering } from './hooks.ts'
import { logResult, type Ending } from './log-result.ts'
import type { PlannedCall } from './plan-call.ts'
import { isContent, renderValue } from './render.ts'
import { resolveEffects } from './resolve-effects.ts'
import type { MakeChange } from './run-files.ts'
import { settle, type Settled } from './settle.ts'
import { createRun, type Place } from './tool-run.ts'
import type { Tool } from './tool.ts'

/** Of what has to end now; made once, because each takes a trace of where it was made. */
const ended = AbortSignal.abort()

/** A call that may run: its body has not started. */
interface AdmittedCall {
  readonly tool: Tool
  readonly context: CallContext
  readonly actor: () => Actor
  readonly approved: readonly Effect[]
  readonly abort: AbortController
}

/**
 * Logs the call, judges it and asks for approval; then resolves to the rest of it, which runs the
 * body and logs the result. Both reject only when the log cannot be written.
 */
export async function prepareCall(
  batch: ToolBatch,
  planned: PlannedCall,
  place: Place,
): Promise<() => Promise<void>> {
  const { session, turn, step, signal, clock } = batch
  const { call } = planned
  const startedAt = clock.now()
  const conclude = (ending: Ending) => logResult(batch, call, ending, startedAt)
  const notStarted = () => {
    return conclude({ error: toolError('ABORTED_BEFORE_DISPATCH', { tool: call.name }) })
  }
  if (signal.aborted) return notStarted
  const { id: callId, name } = call
  await session.append([toolCall({ turn, step, callId, name, arguments: call.arguments })])
  const admitted = await settle(() => admitCall(batch, planned, place), batch)
  if (signal.aborted || admitted.kind === 'abandoned') return notStarted
  if (admitted.kind === 'error') {
    const error = tellable(batch, planned, admitted.error)
    return () => conclude({ error })
  }
  return async () => conclude(await runBody(batch, admitted.value, place))
}

async function admitCall(
  batch: ToolBatch,
  planned: PlannedCall,
  place: Place,
): Promise<AdmittedCall> {
  reserve(batch, place)
  if ('problem' in planned) throw planned.problem
  const { call, tool, row } = planned
  // What was decided on is what runs, whoever holds the arguments in between.
  const args = deepFreeze(planned.args)
  const { scope, project, turn, step } = batch
  const actor = (): Actor => {
    return { ...batch.actor, scope, project, tool: call.name, callId: call.id }
  }
  const declared = tool.effects(args, { cwd: place.cwd, project })
  const effects = await resolveEffects(batch.ctx.get('fs'), declared, place.cwd)
  const abort = new AbortController()
  const { signal } = abort
  const context = { call, row, args, effects, actor: actor(), turn, step, signal }
  const judged = { ...context, signal: batch.signal }
  const approved = await decideCall(batch, Object.freeze(judged), actor)
  return { tool, context: Object.freeze(context), actor, approved, abort }
}

function reserve({ account }: ToolBatch, place: Place): void {
  try {
    account.reserve('tool-call')
  } catch (error) {
    if (isHarnessError(error, 'BUDGET_EXCEEDED')) place.refused = error
    throw error
  }
}

async function runBody(batch: ToolBatch, admitted: AdmittedCall, place: Place): Promise<Ending> {
  const { ctx, session, graceMs, clock } = batch
  const { tool, context, actor, approved, abort } = admitted
  const { call, row, args, effects: declared, signal } = context
  const bound = { ctx, tool: call.name, row, actor, declared, approved, signal }
  const detached = { putBlob: (bytes: Uint8Array) => session.putBlob(bytes) }
  const change = changeMaker(batch, context)
  const grant = createGrant({ ...bound, cwd: place.cwd, detached, change })
  const run = createRun({ batch, context, grant, place, redact: redactorOf(ctx) })
  const release = bindAbort(batch, abort, tool)
  const start = async () => {
    // A handler that was left behind may still come to this.
    signal.throwIfAborted()
    return tool.execute(args, run)
  }
  const body = () => execute.run(ctx, context, start, batch.scope)
  const settled = await settle(body, { ...batch, signal })
  release()
  await settle(() => grant.close(), { signal: ended, graceMs, clock })
  return endingOf(batch, admitted, settled)
}

/** Passes each change of a file through the hooks; without `next` there is none. */
function changeMaker({ ctx, scope }: ToolBatch, context: CallContext): MakeChange {
  return async (target, { make, ...what }) => {
    const made: Awaited<ReturnType<typeof make>>[] = []
    const { stat, read } = target
    const input = Object.freeze({ ...context, ...what, path: target.path, file: { stat, read } })
    await changeFile.run(ctx, input, async () => void made.push(await make()), scope)
    if (made.length > 0) return made[0]!
    const reason = `a hook of ${changeFile.name} kept ${target.path} as it is`
    throw toolError('TOOL_DENIED', { tool: context.call.name, reason })
  }
}

/** Ends the body with the batch, and at its own time limit. */
function bindAbort(batch: ToolBatch, abort: AbortController, tool: Tool): () => void {
  const { signal: outer, clock } = batch
  const follow = () => abort.abort(outer.reason)
  if (outer.aborted) follow()
  else outer.addEventListener('abort', follow, { once: true })
  const { name, timeoutMs } = tool
  const late = () => abort.abort(toolError('TOOL_TIMEOUT', { tool: name, timeoutMs }))
  const stopTimer = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, late)
  return () => {
    stopTimer()
    outer.removeEventListener('abort', follow)
  }
}

async function endingOf(
  batch: ToolBatch,
  { tool, context }: AdmittedCall,
  settled: Settled<unknown>,
): Promise<Ending> {
  const { call, row, signal } = context
  const { graceMs } = batch
  if (settled.kind === 'abandoned') {
    return { error: toolError('TOOL_OUTCOME_UNKNOWN', { tool: call.name, graceMs }) }
  }
  if (settled.kind === 'error') {
    const stopped = signal.aborted && isStop(settled.error, signal)
    if (!stopped) return { error: tellable(batch, { call, row }, settled.error) }
    if (isHarnessError(signal.reason, 'TOOL_TIMEOUT')) return { error: signal.reason }
    return { error: toolError('ABORTED', { tool: call.name }) }
  }
  try {
    const value = frozenJson(settled.value)
    const rendered = renderValue(batch.ctx, tool, value, context.args)
    return { value, ...(await rewrite(batch, context, value, rendered)) }
  } catch (error) {
    if (isHarnessError(error)) return { error }
    const reason = reasonOf(error)
    return { error: toolError('INVALID_TOOL_OUTPUT', { tool: call.name, row, reason }) }
  }
}

/** A failure of its own that a tool reports while it is being stopped is worth more than that. */
function isStop(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || !isHarnessError(error)
}

/** Has the hooks change what is shown; where one fails nothing is, as it may be there to hide. */
async function rewrite(
  batch: ToolBatch,
  context: CallContext,
  value: unknown,
  rendered: Rendering,
): Promise<Rendering> {
  const { ctx, scope } = batch
  const { call, row } = context
  const input = Object.freeze({ ...context, ...rendered, value })
  const run = () => postExecute.run(ctx, input, async () => rendered, scope)
  const settled = await settle(run, batch)
  if (settled.kind === 'value' && settled.value.content.every(isContent)) return settled.value
  const blamed = settled.kind === 'error' && settled.error instanceof RowError
  const failed = blamed ? settled.error.row : 'a hook'
  if (settled.kind === 'error') {
    log(ctx, 'error', 'tools/post-execute failed', { error: describeFailure(settled.error) })
  }
  const reason = `it ran, but ${failed} failed on its result, which is withheld`
  throw toolError('TOOL_FAILED', { tool: call.name, row, reason })
}

/** A failure as a model may be told of it; whatever else it holds goes to the log only. */
function tellable(
  { ctx }: ToolBatch,
  failed: Pick<PlannedCall, 'call'> & { readonly row?: string },
  error: unknown,
): HarnessError {
  const tool = failed.call.name
  const { row = 'core' } = failed
  // Of a plugin: it may be anything, and throw when it is looked at.
  const blamed = blame(row, error)
  if (isHarnessError(blamed)) return blamed
  const known = blamed instanceof RowError ? blamed : { row, cause: blamed }
  if (isHarnessError(known.cause)) return known.cause
  log(ctx, 'error', `tool ${tool} failed`, { row: known.row, error: describeFailure(error) })
  const words = known.cause === undefined ? reasonOf(blamed) : wordsOf(known.cause)
  const reason = escapeControls(words)
  return toolError('TOOL_FAILED', { tool, row: known.row, reason }, { cause: blamed })
}

/** What was thrown may be anything: without a prototype, with getters that throw. */
function wordsOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  } catch {
    return 'it threw what cannot be read'
  }
}
