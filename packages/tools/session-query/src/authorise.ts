import type { SessionHeader } from '@cordage/core/session'
import type { ToolRun } from '@cordage/core/tool'
import { queryError } from './errors.ts'

/** Lets a session through that belongs to exactly the project of the caller. Throws `SESSION_QUERY_DENIED`. */
export function authorise({ id, project }: SessionHeader, run: ToolRun): void {
  if (project !== run.project)
    throw queryError('SESSION_QUERY_DENIED', { id, project: run.project })
}
