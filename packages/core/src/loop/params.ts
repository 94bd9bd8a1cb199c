import { checkWindow, resolveEffort, type ResolvedModel } from '../model/index.ts'
import type { RequestParams } from '../session/index.ts'

/** What a request asks of a model. Throws `UNSUPPORTED_REASONING_EFFORT`, `MODEL_WINDOW_TOO_SMALL`. */
export function effectiveParams(params: RequestParams, model: ResolvedModel): RequestParams {
  const { info } = model
  resolveEffort({ ...model, params }, info)
  const maxTokens = Math.min(params.maxTokens ?? info.maxTokens, info.maxTokens)
  checkWindow(`${model.provider}/${model.model}`, info, maxTokens)
  return { ...params, maxTokens }
}

/** A model that stands in does without an effort that it does not know. */
export function supported(params: RequestParams, model: ResolvedModel): RequestParams {
  try {
    resolveEffort({ ...model, params }, model.info)
    return params
  } catch {
    return Object.fromEntries(Object.entries(params).filter(([name]) => name !== 'effort'))
  }
}
