import {
  frozenJson,
  NotJsonError,
  sessionError,
  type AnyEventDefinition,
  type Fact,
  type NewFact,
} from '../session/index.ts'

interface Place {
  readonly seq: number
  readonly time: number
}

/** The facts as the log will hold them; throws `EVENT_INVALID` for what it could not. */
export function placeFacts(
  facts: readonly NewFact[],
  { seq, time }: Place,
  lookup: (type: string) => AnyEventDefinition | undefined,
): readonly Fact[] {
  return Object.freeze(
    facts.map((fact, index) => {
      const { type, v } = fact
      const data = dataOf(fact)
      const definition = lookup(type)
      if (definition?.version === v) checkSchema(definition, data)
      return Object.freeze({ seq: seq + index, time, type, v, data })
    }),
  )
}

function dataOf({ type, data }: NewFact): unknown {
  try {
    return frozenJson(data)
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    throw sessionError('EVENT_INVALID', { type, reason: error.message })
  }
}

function checkSchema({ type, schema }: AnyEventDefinition, data: unknown): void {
  const issue = schema.safeParse(data).error?.issues[0]
  if (!issue) return
  const path = issue.path.join('.')
  const reason = path === '' ? issue.message : `${path}: ${issue.message}`
  throw sessionError('EVENT_INVALID', { type, reason })
}
