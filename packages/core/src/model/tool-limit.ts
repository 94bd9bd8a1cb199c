import { modelError } from './errors.ts'
import type { ModelRequest } from './request.ts'

/** Throws `INVALID_REQUEST` for more tools than a server takes: it would name neither number. */
export function checkToolCount(
  { provider, model, tools }: Pick<ModelRequest, 'provider' | 'model' | 'tools'>,
  maxTools: number,
): void {
  if (tools.length <= maxTools) return
  const fix = 'switch rows of tools off, or raise compat.maxTools'
  const reason = `${tools.length} tools, and it takes ${maxTools}: ${fix}`
  throw modelError('INVALID_REQUEST', { model: `${provider}/${model}`, reason })
}
