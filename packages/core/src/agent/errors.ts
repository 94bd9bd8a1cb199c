import { defineErrors } from '../error/index.ts'

export const agentError = defineErrors('core-agent', {
  AGENT_CLOSED: { message: 'Agent {id} is closed. Resume its session to go on.' },
  AGENT_EXISTS: {
    message: 'Session {id} already has an agent in this process. Use that one, or close it first.',
  },
  LOOP_MISSING: {
    message: 'Nothing provides ctx.loop. Add the row core-loop to the composition.',
    exit: 78,
  },
  PRESETS_MISSING: {
    message: 'Preset {preset} was asked for, but the composition has no presets.',
    exit: 78,
  },
  SUBAGENT_DEPTH_EXCEEDED: {
    message:
      'An agent of depth {depth} is too deep: children go down to depth {maxDepth}.' +
      ' Do the work here.',
  },
  SUBAGENT_CONCURRENT_BUDGET_EXCEEDED: {
    message:
      '{live} child agents run already, and {maxConcurrentChildren} may.' +
      ' Wait for one of them, or do the work here.',
  },
  NOTHING_INTERRUPTED: {
    message:
      'The last turn of {id} came to its end, so there is nothing to go on with. Say what to do.',
    exit: 2,
  },
  MESSAGE_GONE: {
    message:
      'Message {id} does not wait any more: it was taken into a step, or taken back. Send another.',
  },
  QUEUE_REQUEST: {
    message:
      '"{request}" says nothing that can be done to messages that wait. Say list, edit <place> ' +
      '<words>, move <place> <place>, remove <place>... or release <place>...',
    exit: 2,
  },
  QUEUE_PLACE: {
    message: '{waiting} messages wait, and none at {name}. `list` shows their places and ids.',
    exit: 2,
  },
  MESSAGE_EMPTY: { message: 'The message is empty. Say what to do.', exit: 2 },
})
