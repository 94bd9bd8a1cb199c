import type { BreakdownPart, ContextMeter } from '@cordage/core/compaction'
import type { Command } from '@cordage/core/command'
import type { Models } from '@cordage/core/model'
import type { Usage } from '@cordage/core/message'

/** Shows the three figures apart, each with what it is of: none can be had from another. */
export function contextCommand(meter: ContextMeter, models: Models): Command {
  return {
    name: 'context',
    description:
      'what the next request takes of the window, where it comes from, and what was used',
    run: (_, { session, choice }) => {
      const target = models.resolve(choice.model)
      const input = { session, target, params: choice.params }
      const { projectedTokens, anchoredTokens, contextWindow, outputTokens } = meter.measure(input)
      const breakdown = meter.contextBreakdown(input)
      const room = contextWindow - outputTokens - projectedTokens
      const lines = [
        `Pressure of the next request to ${choice.model}, as projected:`,
        `  ${count(projectedTokens)} of ${count(contextWindow)} tokens; ${count(outputTokens)} are for the answer, ` +
          (room < 0 ? `${count(-room)} too many` : `${count(room)} are left`),
        `  ${count(anchoredTokens)} as the provider counted, the rest estimated`,
        'Where its tokens come from, all estimated:',
        ...Object.entries(breakdown).flatMap(([kind, parts]) => kindLines(kind, parts)),
        'Used by all requests of this session so far:',
        `  ${usageText(meter.cumulativeUsage(session))}`,
      ]
      return { text: lines.join('\n') }
    },
  }
}

function kindLines(kind: string, parts: readonly BreakdownPart[]): string[] {
  const sum = parts.reduce((tokens, part) => tokens + part.tokens, 0)
  const lines = parts.map(({ part, row, tokens, stability }) => {
    const by = [row, stability].filter(Boolean).join(', ')
    return `    ${count(tokens).padStart(9)}  ${part}${by === '' ? '' : ` (${by})`}`
  })
  return [`  ${kind}: ${count(sum)}`, ...lines]
}

function usageText({ inputTokens, outputTokens, cacheReadTokens, estimated }: Usage): string {
  const cached = cacheReadTokens ? `, ${count(cacheReadTokens)} of it from a cache` : ''
  const note = estimated ? ', partly estimated' : ''
  return `${count(inputTokens)} tokens of input${cached}; ${count(outputTokens)} of output${note}`
}

const count = (tokens: number) => tokens.toLocaleString('en-US')
