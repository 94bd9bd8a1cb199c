import { type Message, textOf, toolCallsOf, type ToolResultPart } from '@cordage/core/message'
import type { Condition, Script, Step } from './script.ts'

/** What a script says when it is over: the run goes on, but nothing was recorded for it. */
const over: Step = { times: 1, calls: [], delayMs: 0, text: 'The recorded run ends here.' }

interface Place {
  readonly detours: readonly Step[]
  readonly main: Step
}

/**
 * The step that answers `messages`. It is found by going over the answers that are already there,
 * so that a run which was interrupted goes on where it stopped, in any process.
 */
export function chooseStep(script: Script, messages: readonly Message[]): Step {
  const places = splitPlaces(script)
  const taken = new Map<Step, number>()
  let at = 0
  for (let end = 0; ; end += 1) {
    const message = messages[end]
    if (message && message.role !== 'assistant') continue
    const step = stepAt(places[at], messages.slice(0, end), taken)
    if (!message) return step
    taken.set(step, (taken.get(step) ?? 0) + 1)
    // An answer that was cut off before its calls is given again.
    if (!step.when && toolCallsOf(message).length >= step.calls.length) at += 1
  }
}

function splitPlaces({ steps }: Script): Place[] {
  const places: Place[] = []
  let detours: Step[] = []
  for (const step of steps) {
    if (step.when) {
      detours.push(step)
      continue
    }
    places.push({ detours, main: step })
    detours = []
  }
  return detours.length > 0 ? [...places, { detours, main: over }] : places
}

function stepAt(
  place: Place | undefined,
  before: readonly Message[],
  taken: ReadonlyMap<Step, number>,
): Step {
  if (!place) return over
  const detour = place.detours.find((step) => {
    return (taken.get(step) ?? 0) < step.times && holds(step.when ?? {}, before)
  })
  return detour ?? place.main
}

function holds(condition: Condition, messages: readonly Message[]): boolean {
  const { lastUserContains, lastToolName, lastToolContains, lastToolLacks, toolFailed } = condition
  const result = lastResult(messages)
  const shown = result === undefined ? '' : textOf(result)
  return (
    (lastUserContains === undefined || lastUserText(messages).includes(lastUserContains)) &&
    (lastToolName === undefined || result?.name === lastToolName) &&
    (lastToolContains === undefined || shown.includes(lastToolContains)) &&
    (lastToolLacks === undefined || !shown.includes(lastToolLacks)) &&
    (toolFailed === undefined || (result?.isError ?? false) === toolFailed)
  )
}

function lastResult(messages: readonly Message[]): ToolResultPart | undefined {
  const parts = messages.findLast((message) => message.role === 'tool')?.content ?? []
  return parts.filter((part) => part.type === 'tool-result').at(-1)
}

function lastUserText(messages: readonly Message[]): string {
  const last = messages.findLast(({ source }) => {
    return source.kind === 'user' || (source.kind === 'plugin' && source.form === 'relay')
  })
  return last ? textOf(last) : ''
}
