import type { HarnessError } from '../error/index.ts'
import { planCall } from './plan-call.ts'
import { prepareCall } from './run-call.ts'
import type { ToolBatch } from './tool-batch.ts'
import type { Place } from './tool-run.ts'

/**
 * Runs the calls and resolves when the log holds exactly one `tool/result` for each, whatever
 * tools, hooks and the signal do: with the refusal where the budget did not reach for a call.
 * Rejects only when the log cannot be written; bodies that had started have ended or been
 * abandoned by then.
 */
export async function runBatch(batch: ToolBatch): Promise<HarnessError | undefined> {
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
  return place.refused
}

/** Waits until fewer than `max` run; they all end, so this does. */
async function room(running: ReadonlySet<Promise<void>>, max: number): Promise<void> {
  while (running.size >= Math.max(1, max)) await Promise.race(running)
}
