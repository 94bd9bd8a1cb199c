import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import '@cordage/core/agent'
import { sessionComposition, type Fact } from '@cordage/core/session'
import { boot } from 'cordage'
import { expect, it } from 'vitest'
import { startModelPeer, type PeerReply } from '../../packages/kit/testkit/src/model-peer.ts'
import type { WireApi } from '../../packages/kit/testkit/src/model-wire.ts'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { protocols } from './stage.ts'

const recorded = join(import.meta.dirname, 'recorded')

it.each(protocols)('a recorded stream of %s gives exactly this log', async (api) => {
  await using place = await makePlace('empty')
  await writeFile(join(place.project, 'note.txt'), 'hello\n')
  const peer = await startModelPeer()
  try {
    peer.reply(await replay(`${api}.1.sse`), await replay(`${api}.2.sse`))
    const facts = await oneTurn(place, api, peer.url)
    const lines = facts
      .filter(isOfTheTurn)
      .map(({ seq, type, v, data }) => JSON.stringify({ seq, type, v, data }))
    const text = `${normalise(lines.join('\n'), place)}\n`
    await expect(text).toMatchFileSnapshot(join(recorded, `${api}.log.jsonl`))
  } finally {
    await peer.close()
  }
})

/** What it was run with is a matter of this place. */
function isOfTheTurn(fact: Fact): boolean {
  return !sessionComposition.is(fact)
}

async function replay(file: string): Promise<PeerReply> {
  const bytes = await readFile(join(recorded, file))
  return (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(bytes)
}

/** One turn of an agent that has nothing but a tool of its own. */
async function oneTurn(place: Place, api: WireApi, url: string): Promise<Fact[]> {
  const patch = join(place.base, 'recorded.patch.yml')
  await writeFile(patch, JSON.stringify(overlay(api, url)))
  const env = cleanEnv(place)
  const { home, project } = place
  const harness = await boot({ profile: 'sdk-minimal', patches: [patch], home, env, cwd: project })
  try {
    const session = await harness.ctx.sessions.create({ project, depth: 0 })
    const agent = await harness.ctx.agents.spawn({
      session,
      choice: { model: 'peer/recorded', params: {} },
      authority: { mode: 'workspace-write', writableRoots: [project] },
    })
    await agent.send('What does note.txt say?', { wake: false })
    await agent.wake()
    const facts: Fact[] = []
    for await (const fact of session.read(0)) facts.push(fact)
    await agent.close()
    return facts
  } finally {
    await harness.close()
  }
}

function overlay(api: WireApi, url: string) {
  const models = [{ id: 'recorded', contextWindow: 100_000, maxTokens: 1_000 }]
  const anthropic = api === 'anthropic-messages'
  const peer = { displayName: 'Peer', api, baseURL: anthropic ? url : `${url}/v1`, models }
  const note = join(recorded, 'note.ts')
  return [
    { id: anthropic ? 'model-anthropic' : 'model-openai', config: { providers: { peer } } },
    // Calls side by side end in any order.
    { id: 'core-loop', merge: { maxParallelToolCalls: 1 } },
    { preset: 'minimal', rows: [{ id: 'proof-note', name: note }] },
  ]
}

/** Ids by their first use, and nothing of the place, the clock and the digests that hold both. */
function normalise(text: string, place: Place): string {
  const ids = new Map<string, string>()
  return text
    .replaceAll(place.project, '/project')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'peer')
    .replaceAll(/(?<![0-9A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Z])/g, (id) => {
      const known = ids.get(id) ?? `id-${ids.size + 1}`
      ids.set(id, known)
      return known
    })
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":0')
    .replaceAll(/"digest":"[0-9a-f]{64}"/g, '"digest":"…"')
}
