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
  MODEL_NONE: {
    message:
      'No model can be used: there is no credential. Set DEEPSEEK_API_KEY, OPENAI_API_KEY or ' +
      'ANTHROPIC_API_KEY (or OPENAI_BASE_URL and the like for a local server), name one with ' +
      '--model, or try the recorded run: --model scripted/fix-a-bug.',
    exit: 78,
  },
})
