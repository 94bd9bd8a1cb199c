import { modelError } from './errors.ts'
import type { ModelInfo } from './provider.ts'

/** Throws `MODEL_WINDOW_TOO_SMALL` where an answer of `maxTokens` leaves no room for a request. */
export function checkWindow(
  name: string,
  { contextWindow: window, maxTokens: most }: Pick<ModelInfo, 'contextWindow' | 'maxTokens'>,
  maxTokens = most,
): void {
  if (window - maxTokens > 0) return
  throw modelError('MODEL_WINDOW_TOO_SMALL', { model: name, window, maxTokens })
}
