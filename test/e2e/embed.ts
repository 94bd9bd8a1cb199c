// What a program that embeds Cordage writes: one turn of the profile sdk-minimal.
import { textOf } from '@cordage/core/message'
import { boot } from 'cordage'

const [home = '', project = '', patch = ''] = process.argv.slice(2)
const harness = await boot({ profile: 'sdk-minimal', home, env: {}, patches: [patch] })
const { sessions, agents } = harness.ctx
const session = await sessions.create({ project, depth: 0 })
const agent = await agents.spawn({
  session,
  choice: { model: 'scripted/greet', params: {} },
  authority: { mode: 'read-only', writableRoots: [] },
})
await agent.send('Say hello', { wake: false })
const outcome = await agent.wake()
const answer = outcome?.answer ? textOf(outcome.answer) : ''
console.log(
  JSON.stringify({ reason: outcome?.reason, answer, location: harness.ctx.store.location }),
)
await harness.close()
