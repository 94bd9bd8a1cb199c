import { defineErrors } from '@cordage/core/error'

export const telemetryError = defineErrors('policy-telemetry', {
  /** It ends nothing: it is what the one warning of a process says. */
  TELEMETRY_UNSENT: {
    message: 'What was left to send did not get there within {flushMs} ms and is lost.',
  },
})
