import { describeFailure, log, type Context, type Scope } from '../kernel/index.ts'
import type { ToolCallPart } from '../message/index.ts'
import type { Actor } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import { turnClock } from './clock.ts'
import { toolError } from './errors.ts'
import { createGrant } from './grant.ts'
import { planCall } from './plan-call.ts'
import { resolveEffects } from './resolve-effects.ts'
import { settle } from './settle.ts'
import type { ResolvedToolSet } from './tools.ts'

/** How long a tool may look for what became of a call. */
const MAX_LOOK_MS = 5_000
const GRACE_MS = 1_000

/** What is known now of a call whose outcome was unknown. */
export type Reconciled =
  /** It may be made again: another time changes nothing more. */
  | { readonly kind: 'repeatable' }
  /** In words of the tool. */
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'unknown' }

export interface ReconcileOptions {
  readonly ctx: Context
  readonly session: Session
  readonly scope: Scope
  readonly actor: Actor
  readonly toolset: ResolvedToolSet
}

/** Asks the tool of `call` what became of it: it may read what the call declared, no more. */
export async function reconcileCall(
  options: ReconcileOptions,
  call: ToolCallPart,
): Promise<Reconciled> {
  const planned = planCall(options.toolset, call)
  if ('problem' in planned) return { kind: 'unknown' }
  const { tool, args, row } = planned
  if (!tool.reconcile) return { kind: tool.idempotent === true ? 'repeatable' : 'unknown' }
  const signal = AbortSignal.timeout(MAX_LOOK_MS)
  const look = async () => {
    const { ctx, session, actor, scope } = options
    const { project } = session.header
    const { cwd } = session
    const effects = await resolveEffects(ctx.get('fs'), tool.effects(args, { cwd, project }), cwd)
    const who = { ...actor, scope, project, tool: call.name, callId: call.id }
    const refuse = async () => {
      throw toolError('TOOL_DENIED', { tool: call.name, reason: 'it may only look' })
    }
    const grant = createGrant({
      ctx,
      tool: call.name,
      row,
      actor: () => who,
      declared: effects.filter(({ kind }) => kind === 'fs:read'),
      approved: [],
      cwd,
      signal,
      detached: { putBlob: refuse },
      change: refuse,
    })
    try {
      return await tool.reconcile?.(args, { fs: grant.fs, cwd, project, signal })
    } finally {
      await grant.close()
    }
  }
  const settled = await settle(look, { signal, graceMs: GRACE_MS, clock: turnClock })
  if (settled.kind === 'error') {
    const fields = { row, error: describeFailure(settled.error) }
    log(options.ctx, 'error', `tool ${call.name} could not say what became of a call`, fields)
  }
  const known = settled.kind === 'value' && typeof settled.value === 'string'
  return known ? { kind: 'found', text: String(settled.value) } : { kind: 'unknown' }
}
