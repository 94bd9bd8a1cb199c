import { defineErrors } from '../error/index.ts'

export const commandError = defineErrors('core-command', {
  COMMAND_UNKNOWN: {
    message: 'There is no command /{name}. {hint} For the agent, begin with another word.',
    exit: 2,
  },
  COMMAND_FAILED: {
    message: 'The command /{name} of {row} failed: {reason}',
  },
})
