import { defineErrors } from '@cordage/core/error'

export const breakerError = defineErrors('policy-breaker', {
  ROUTE_OPEN: {
    message:
      'Nothing was sent to {route}, which failed {failures} times in a row, for another ' +
      '{seconds} s. Wait, or take a model of another route.',
    exit: 75,
  },
})
