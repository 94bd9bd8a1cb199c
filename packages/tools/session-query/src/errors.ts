import { defineErrors } from '@cordage/core/error'

export const queryError = defineErrors('tool-session-query', {
  SESSION_QUERY_DENIED: {
    message:
      'Session {id} belongs to another project. Only sessions of {project} may be looked into.',
    exit: 77,
  },
  SESSION_QUERY_TIME: {
    message: '{value} is no time: give a date as 2026-11-30, or with a time as 2026-11-30T09:00Z.',
    exit: 2,
  },
})
