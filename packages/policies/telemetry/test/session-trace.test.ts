import type { Span } from '@opentelemetry/api'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { NoopSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  sessionChild,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  type NewFact,
} from '@cordage/core/session'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { createInstruments } from '../src/instruments.ts'
import { SessionTrace } from '../src/session-trace.ts'

const place = { turn: 1, step: 1 }
const source = { kind: 'model', provider: 'p', model: 'm' } as const
const message = { id: 'm', role: 'assistant', content: [], source } as const
const error = { code: 'SERVER', message: 'no', retryable: true }

const facts: readonly NewFact[] = [
  turnStart({ turn: 1 }),
  turnEnd({ turn: 1, reason: 'completed' }),
  turnEnd({ turn: 1, reason: 'interrupted' }),
  stepStart(place),
  stepEnd(place),
  attemptStart({ ...place, attempt: 1 }),
  attemptFailed({ ...place, attempt: 1, error }),
  assistantMessage({ ...place, attempt: 1, message, finish: 'stop' }),
  ...['a', 'b'].flatMap((callId) => {
    const call = { ...place, callId, name: 'bash' }
    const part = { type: 'tool-result', callId, name: 'bash', content: [], isError: false } as const
    const child = { session: 'child', kind: 'spawn', description: '' } as const
    return [
      toolCall({ ...call, arguments: '{}' }),
      toolResult({ ...call, messageId: 'r', part }),
      sessionChild({ ...child, turn: 1, callId }),
    ]
  }),
]

/** Every span that began, and how often each ended. */
class Counting extends NoopSpanProcessor {
  readonly ends = new Map<string, number>()
  readonly backwards: string[] = []
  override onStart(span: Span): void {
    this.ends.set(span.spanContext().spanId, 0)
  }
  override onEnd(span: ReadableSpan): void {
    const { spanId } = span.spanContext()
    this.ends.set(spanId, (this.ends.get(spanId) ?? 0) + 1)
    if (span.duration[0] < 0 || span.duration[1] < 0) this.backwards.push(spanId)
  }
}

it('ends each span once, in whatever order facts come, and with whatever clock', () => {
  const step = fc.tuple(fc.constantFrom(...facts), fc.integer({ min: -5, max: 50 }))
  const steps = fc.array(step, { minLength: 10, maxLength: 80 })
  fc.assert(
    fc.property(steps, (given) => {
      const counting = new Counting()
      const tracer = new TracerProvider({ spanProcessors: [counting] }).getTracer('test')
      const instruments = createInstruments(new MeterProvider().getMeter('test'))
      const parents = new Map()
      const header = undefined
      const shared = { tracer, instruments, parents, agent: 'standard', header }
      const trace = new SessionTrace({ ...shared, session: 'main' })
      const child = new SessionTrace({ ...shared, session: 'child' })
      let time = 1_800_000_000_000
      given.forEach(([fact, passed], seq) => {
        time += passed
        trace.add({ ...fact, seq, time })
        if (seq % 3 === 0) child.add({ ...fact, seq, time })
      })
      trace.close(time)
      child.close(time)
      trace.close(time)
      expect([...counting.ends.values()].filter((count) => count !== 1)).toEqual([])
      expect(counting.backwards).toEqual([])
      expect(parents.size).toBe(0)
    }),
  )
})
