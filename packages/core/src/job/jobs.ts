import type { Context, Scope } from '../kernel/index.ts'
import { jobError } from './errors.ts'
import { jobEnded, type Job, type Jobs } from './job.ts'
import { runJob } from './running-job.ts'

export interface JobLimits {
  readonly maxRunning: number
  readonly maxKeptChars: number
}

/** Jobs that have ended and can still be asked about. */
const MAX_ENDED = 20

interface ScopeJobs {
  started: number
  readonly jobs: Map<string, Job>
  /** Ends them all. */
  readonly close: () => Promise<unknown>
}

/** Keeps the jobs of every scope; `close` ends them and their process trees. */
export function createJobs(ctx: Context, limits: JobLimits): Jobs & { close(): Promise<void> } {
  const scopes = new Map<Scope, ScopeJobs>()

  const open = (scope: Scope): ScopeJobs => {
    const jobs = new Map<string, Job>()
    const endAll = async () => {
      scopes.delete(scope)
      for (const job of jobs.values()) job.kill()
      await Promise.all([...jobs.values()].map((job) => job.ended))
    }
    // The scope waits for a generator's parts when it closes, and for nothing less.
    const close = scope.ctx.effect(function* () {
      yield endAll
    }, 'jobs')
    const opened = { started: 0, jobs, close: async () => close() }
    scopes.set(scope, opened)
    return opened
  }
  const list = (scope: Scope) => [...(scopes.get(scope)?.jobs.values() ?? [])]

  const admit = (scope: Scope) => {
    const running = list(scope).filter(({ state }) => state === 'running').length
    if (running >= limits.maxRunning) throw jobError('JOB_LIMIT', { running })
  }
  return {
    admit,
    list,
    start: (scope, start) => {
      admit(scope)
      const own = scopes.get(scope) ?? open(scope)
      own.started += 1
      const job = runJob(ctx, `job-${own.started}`, start, limits.maxKeptChars)
      own.jobs.set(job.id, job)
      void announceEnd(ctx, scope, job, own)
      return job
    },
    get: (scope, id) => {
      const job = scopes.get(scope)?.jobs.get(id)
      if (job) return job
      const ids = list(scope).map((one) => one.id)
      const known = ids.length === 0 ? 'none was started' : `there are ${ids.join(', ')}`
      throw jobError('JOB_UNKNOWN', { job: id, known })
    },
    close: async () => {
      await Promise.all([...scopes.values()].map((own) => own.close()))
    },
  }
}

async function announceEnd(ctx: Context, scope: Scope, job: Job, own: ScopeJobs): Promise<void> {
  await job.ended
  forgetOldest(own.jobs)
  jobEnded.emit(ctx, { scope, job }, scope)
}

function forgetOldest(jobs: Map<string, Job>): void {
  const ended = [...jobs.values()].filter(({ state }) => state !== 'running')
  for (const { id } of ended.slice(0, -MAX_ENDED)) jobs.delete(id)
}
