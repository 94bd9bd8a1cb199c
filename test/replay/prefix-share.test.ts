import { requestHeader, requestPrefix, type Fact } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { protocols, type Stage } from './stage.ts'
import { openThirty, repeatedShare, talkAtLength } from './thirty-plugins.ts'

async function factsOf({ agent }: Stage): Promise<Fact[]> {
  const facts: Fact[] = []
  for await (const fact of agent.session.read(0)) facts.push(fact)
  return facts
}

describe.each(protocols)('with 30 plugins more than the default profile has, over %s', (api) => {
  it('at least 97 % of what is sent begins the request before, and no fact says otherwise', async () => {
    await using stage = await openThirty(api)
    await talkAtLength(stage)
    const share = repeatedShare(stage.peer.requests.map(({ text }) => text))
    console.log(`${api}: ${(share * 100).toFixed(2)} % of all bytes are a repeated prefix`)
    expect(share).toBeGreaterThanOrEqual(0.97)
    const facts = await factsOf(stage)
    expect(facts.filter(requestPrefix.is)).toEqual([])
    const { origin = [] } = facts.find(requestHeader.is)?.data ?? {}
    const own = origin.filter(({ row }) => row.startsWith('thirty-'))
    expect(own.map(({ stability }) => stability)).toEqual(
      ['system', 'tool'].flatMap(() =>
        ['stable', 'per-session', 'volatile'].flatMap((kind) => Array<string>(10).fill(kind)),
      ),
    )
  })
})
