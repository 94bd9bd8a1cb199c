import { problemText } from '@cordage/core/compose'
import { describe } from '@cordage/core/error'
import { describeFailure, log } from '@cordage/core/kernel'
import { request } from '@cordage/core/loop'
import { harmless } from '../print/table.ts'
import type { Harness } from './boot.ts'
import type { Rejection } from './follow.ts'

/**
 * Has a run follow its layers once its first request was answered: what comes before that waits
 * for no watcher, and a layer that was edited meanwhile is taken then.
 */
export function followWhileRunning(harness: Harness): void {
  const { ctx } = harness
  let begun = false
  request.use(ctx, async (_, next) => {
    try {
      return await next()
    } finally {
      if (!begun) {
        begun = true
        harness.follow().catch((error: unknown) => {
          log(ctx, 'warn', 'layers are not followed', { error: describeFailure(error) })
        })
      }
    }
  })
}

/** What a person is told of an edit that was not taken. */
export function rejectionText({ problems, error }: Rejection): string {
  const found = problems.length > 0 ? problems.map(problemText) : [describe(error).message]
  const lines = found.map((text) => `  ${text}\n`).join('')
  return harmless(`notice: a changed layer was not taken; what runs goes on as it was.\n${lines}`)
}
