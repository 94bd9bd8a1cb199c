export interface HarnessErrorFields {
  readonly code: string
  readonly message: string
  readonly retryable?: boolean
  readonly details?: Record<string, unknown>
  readonly cause?: unknown
}

/** Every operational failure. Made by the factories of `defineErrors`, so `code` is in a table. */
export class HarnessError extends Error {
  override readonly name = 'HarnessError'
  readonly code: string
  readonly retryable: boolean
  /** The values of the message and whatever else a program may want to read; no secrets. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(fields: HarnessErrorFields) {
    super(fields.message, fields.cause === undefined ? {} : { cause: fields.cause })
    this.code = fields.code
    this.retryable = fields.retryable ?? false
    this.details = fields.details ?? {}
  }
}

export function isHarnessError(error: unknown, code?: string): error is HarnessError {
  try {
    return error instanceof HarnessError && (code === undefined || error.code === code)
  } catch {
    // A proxy of somebody else that throws when it is looked at.
    return false
  }
}
