import type { Job } from '@cordage/core/job'
import type { Scope } from '@cordage/core/kernel'
import { preExecute } from '@cordage/core/tool'
import type { ToolBench } from '@cordage/testkit'

export interface BenchJobs {
  get(id: string): Job
  list(): readonly Job[]
}

/** The jobs of whoever calls the tools of `bench`, from its next call on. */
export function jobsOf({ root }: ToolBench): BenchJobs {
  let scope: Scope | undefined
  preExecute.use(root, ({ actor }) => {
    scope = actor.scope
    return undefined
  })
  return {
    get: (id) => root.jobs.get(scope as Scope, id),
    list: () => root.jobs.list(scope as Scope),
  }
}
