import { textOf } from '../message/index.ts'
import type { ResolvedModel } from '../model/index.ts'
import { requestContext, requestHeader, type RequestHeader } from '../session/index.ts'
import { systemFacts, type EnteredStep } from './enter.ts'
import { effectiveParams, supported } from './params.ts'
import type { TurnRun } from './run.ts'

/**
 * Goes on with a step that has begun by another model, for the rest of the turn: the log gets a
 * header of its own, and what the step has to say stays what it is.
 */
export async function changeRoute(
  run: TurnRun,
  entered: EnteredStep,
  model: ResolvedModel,
): Promise<EnteredStep> {
  const { session, choice } = run.agent
  const { provider, info } = model
  const { surface } = session
  const { systems } = run.index.at(surface)
  const last = systems.at(-1)
  const params = effectiveParams(supported(choice.params, model), model)
  const header = { ...(session.requestHeader as RequestHeader), provider, params }
  const { contextWindow, maxTokens } = info
  const named = { provider, model: model.model }
  await session.append(
    [
      ...systemFacts(surface, systems, { text: last ? textOf(last.message) : '', info }),
      requestHeader({ ...header, ...named, reason: 'change', insteadOf: choice }),
      requestContext({ ...named, contextWindow, maxTokens }),
    ],
    { later: true },
  )
  run.standIns.set(choice.model, `${provider}/${model.model}`)
  return { ...entered, model }
}
