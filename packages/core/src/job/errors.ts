import { defineErrors } from '../error/index.ts'

export const jobError = defineErrors('core-job', {
  JOB_UNKNOWN: {
    message:
      'There is no job {job}; {known}. Jobs end with the process and the agent that started ' +
      'them: one from before a resume is gone, start it again if it is needed.',
  },
  JOB_LIMIT: {
    message: '{running} jobs are running, and no more may. End one with job_kill, or wait for one.',
  },
})
