import { defineErrors } from '@cordage/core/error'

export const recallError = defineErrors('context-recall', {
  MEMORY_SECRET: {
    message:
      'This is not remembered: it holds {what}. Say where the secret is kept, never what it is.',
    exit: 2,
  },
  MEMORY_TOO_LONG: {
    message:
      'This is not remembered: {chars} characters are more than {max}. Give one fact in a few' +
      ' sentences, never whole outputs.',
    exit: 2,
  },
  MEMORY_TOOL_OUTPUT: {
    message:
      'This is not remembered: it repeats what {tool} gave (#{seq}). Say what follows from that.',
    exit: 2,
  },
  MEMORY_TRANSIENT: {
    message:
      'This is not remembered: "{words}" is a state that passes, and would be wrong next time.' +
      ' Give what holds whatever the network or a server does.',
    exit: 2,
  },
  MEMORY_NOT_SAID: {
    message:
      'This is not remembered: the user typed no such sentence in this session. Give whole' +
      ' sentences word for word, or basis verified_fact with a source.',
    exit: 2,
  },
  MEMORY_UNVERIFIED: {
    message:
      'This is not remembered: {reason}. Give as source some words exactly as a tool of this' +
      ' session gave them, or the user typed them; what nothing shows is a guess.',
    exit: 2,
  },
  MEMORY_USAGE: {
    message:
      '/memory {args} is nothing that can be done: `/memory` lists, `/memory forget <id>` forgets.',
    exit: 2,
  },
  MEMORY_EXPIRED: {
    message: 'This is not remembered: {expires} is over. Give a later day, or none.',
    exit: 2,
  },
})
