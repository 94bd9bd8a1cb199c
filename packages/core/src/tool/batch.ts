import type { Context, Scope } from '../kernel/index.ts'
import type { Account } from '../ledger/index.ts'
import type { ToolCallPart } from '../message/index.ts'
import type { Actor } from '../policy/index.ts'
import type { Session } from '../session/index.ts'
import { planCall } from './plan-call.ts'
import { prepareCall } from './run-call.ts'
import type { Place } from './tool-run.ts'
import type { SeenFiles } from './tool.ts'
import type { ResolvedToolSet } from './tools.ts'

/** The calls of one assistant message and everything they run with. */
export interface ToolBatch {
  readonly ctx: Context
  readonly session: Session
  readonly scope: Scope
  /** `authority` is read anew at each decision, so a getter makes a downgrade effective at once. */
  readonly actor: Actor
  readonly account: Account
  readonly toolset: ResolvedToolSet
  /** In the model's order; ids are unique. */
  readonly calls: readonly ToolCallPart[]
  readonly turn: number
  readonly step: number
  readonly signal: AbortSignal
  readonly project: string
  /** Where the batch starts; a call that changes the session's directory moves later ones. */
  readonly cwd: string
  /** Calls that may overlap; 1 runs them one after the other. */
  readonly maxParallel: number
  /** How long a started body may take to settle after an abort or its time limit. */
  readonly graceMs: number
  /** One for the life of the session: see `createSeenFiles`. */
  readonly seen: SeenFiles
}

/**
 * Runs the calls and resolves when the log holds exactly one `tool/result` for each, whatever
 * tools, hooks and the signal do. Rejects only when the log cannot be written; bodies that had
 * started have ended or been abandoned by then.
 */
export async function runBatch(batch: ToolBatch): Promise<void> {
  const place: Place = { cwd: batch.cwd }
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  // One after the other, in the model's order: people are asked one question at a time.
  for (const planned of batch.calls.map((call) => planCall(batch.toolset, call))) {
    await room(running, planned.concurrent ? batch.maxParallel : 1)
    if (failures.length > 0) break
    try {
      const rest = await prepareCall(batch, planned, place)
      const task = rest()
        .catch((error: unknown) => void failures.push(error))
        .finally(() => running.delete(task))
      running.add(task)
    } catch (error) {
      failures.push(error)
    }
    if (!planned.concurrent) await room(running, 1)
  }
  await room(running, 1)
  if (failures.length > 0) throw failures[0]
}

/** Waits until fewer than `max` run; they all end, so this does. */
async function room(running: ReadonlySet<Promise<void>>, max: number): Promise<void> {
  while (running.size >= Math.max(1, max)) await Promise.race(running)
}
