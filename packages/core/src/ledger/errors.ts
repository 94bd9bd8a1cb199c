import { defineErrors } from '../error/index.ts'

export const ledgerError = defineErrors('core-ledger', {
  /** `details.limit` is the name of the limit in `Limits`. */
  BUDGET_EXCEEDED: {
    message: 'The budget is used up: {limit} is reached. Raise that limit to go on.',
    exit: 124,
  },
})
