import { defineErrors } from '@cordage/core/error'

export const headlessError = defineErrors('frontend-headless', {
  TASK_MISSING: {
    message: 'There is nothing to do. Give a task: `cordage "fix the failing test"`.',
    exit: 2,
  },
  SESSION_NONE: {
    message: 'No session of {project} can be continued. Start one: `cordage "what to do"`.',
    exit: 2,
  },
})
