import { expect, test } from 'vitest'
import { ask, say } from './model-conversation.ts'
import type { ModelFixture } from './model-fixture.ts'
import { argumentShapes, identities } from './model-oddity-calls.ts'
import { contents, ends } from './model-oddity-ends.ts'
import { endings, framing } from './model-oddity-streams.ts'
import { usages } from './model-oddity-usage.ts'
import { type OddityGroup, resultOf, tell, tellFailure, tellTokens } from './model-oddity.ts'

/** All that servers were seen to do, by the part of an answer that it is about. */
export const oddityGroups: readonly OddityGroup[] = [
  { title: 'Bytes', oddities: framing },
  { title: 'How a stream ends', oddities: endings },
  { title: 'Which call a piece belongs to', oddities: identities },
  { title: 'Arguments of a call', oddities: argumentShapes },
  { title: 'The word at the end', oddities: ends },
  { title: 'Text and reasoning', oddities: contents },
  { title: 'Tokens', counts: true, oddities: usages },
]

/** Each oddity has the result that it is documented with. */
export function oddityCases(on: ModelFixture): void {
  const { api } = on.subject
  for (const { title, counts, oddities } of oddityGroups) {
    const rows = oddities.map((oddity) => [`${title}: ${oddity.name}`, oddity] as const)
    const here = rows.filter(([, oddity]) => oddity.reply(api) !== undefined)
    test.each(here)('makes of an oddity what is documented. %s', async (_, oddity) => {
      on.peer.reply(oddity.reply(api) ?? (() => {}))
      const asked = ask(on.provider, on.request(say.user('hi')))
      const told = await asked.then(counts ? tellTokens : tell, tellFailure)
      expect(told).toBe(resultOf(oddity, api))
    })
  }
}
