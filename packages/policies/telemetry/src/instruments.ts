import type { Histogram, Meter } from '@opentelemetry/api'

export interface Instruments {
  /** Tokens that a provider counted, by `gen_ai.token.type`. */
  readonly tokens: Histogram
  /** Of attempts; the conventions call them operations of a client. */
  readonly attempts: Histogram
  readonly turns: Histogram
  readonly steps: Histogram
  readonly tools: Histogram
}

// The boundaries that the conventions ask for: powers of four, and of two from 10 ms.
const tokenBoundaries = Array.from({ length: 14 }, (_, power) => 4 ** power)
const durationBoundaries = Array.from({ length: 14 }, (_, power) => (2 ** power * 10) / 1000)
// A turn may take hours.
const longBoundaries = [...durationBoundaries, 300, 900, 3_600, 14_400]

/** Durations are in seconds; each histogram also counts. */
export function createInstruments(meter: Meter): Instruments {
  const duration = (name: string, description: string, boundaries = longBoundaries) => {
    const advice = { explicitBucketBoundaries: boundaries }
    return meter.createHistogram(name, { description, unit: 's', advice })
  }
  return {
    tokens: meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Number of input and output tokens used.',
      unit: '{token}',
      advice: { explicitBucketBoundaries: tokenBoundaries },
    }),
    attempts: duration(
      'gen_ai.client.operation.duration',
      'GenAI operation duration.',
      durationBoundaries,
    ),
    turns: duration('cordage.turn.duration', 'How long turns took.'),
    steps: duration('cordage.step.duration', 'How long steps took, retries and tools included.'),
    tools: duration('cordage.tool.duration', 'How long tool calls took, approvals included.'),
  }
}
