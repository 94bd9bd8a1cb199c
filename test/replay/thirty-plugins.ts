import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stabilities } from '@cordage/core/session'
import type { WireApi } from '../../packages/kit/testkit/src/model-wire.ts'
import type { Place } from '../e2e/fixture/place.ts'
import { openStage, type Stage } from './stage.ts'

const TURNS = 30
const STEPS = 3

/** The default profile and 30 more plugins, each with a section, a tool and a context. */
export function openThirty(api: WireApi): Promise<Stage> {
  return openStage(api, async (place) => {
    const rows = await Promise.all(Array.from({ length: 30 }, (_, at) => writePlugin(place, at)))
    // Half of them are there for everybody, half in the scope of the agent.
    return [{ insert: rows.slice(15) }, { preset: 'standard', rows: rows.slice(0, 15) }]
  })
}

/** One of each kind in turn; what it may say anew it does say anew, each fifth turn. */
async function writePlugin({ base }: Place, at: number) {
  const stability = stabilities[at % stabilities.length]
  const name = join(base, `plugin-${at}.mjs`)
  const id = `thirty-${at}`
  const text = `Rule ${at}: ${'keep to what was agreed, and say so where you cannot. '.repeat(3)}`
  await writeFile(
    name,
    `import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'
export default definePlugin({
  name: '${id}',
  inject: ['prompt', 'tools'],
  apply(ctx) {
    const stability = '${stability}'
    ctx.prompt.section(ctx, { id: '${id}', stability, render: ({ sessionId }) =>
      ${JSON.stringify(text)} + (stability === 'stable' ? '' : sessionId) })
    ctx.prompt.context(ctx, { id: '${id}', stability, render: ({ turn }) =>
      'State ${at}: ' + (stability === 'volatile' ? Math.floor(turn / 5) : 'ready') })
    ctx.tools.register(ctx, {
      name: 'look_${at}', description: 'Looks at part ${at} of the plant.', stability,
      parameters: z.strictObject({ lines: z.number().int() }),
      effects: () => [],
      execute: async ({ lines }) =>
        Array.from({ length: lines }, (_, line) => line + ': 阀门 valve ' + line * 7919 % 997 + ' open').join('\\n'),
    })
  },
})
`,
  )
  return { id, name }
}

/** A talk of 30 turns with two calls each, whose results are of some 300 to 3,000 bytes. */
export async function talkAtLength(stage: Stage): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    const calls = Array.from({ length: STEPS - 1 }, (_, step) => {
      const at = turn * STEPS + step
      const lines = 10 + ((at * 37) % 90)
      const text = [`I look at part ${at % 30} now, as the question needs it.`]
      const args = [JSON.stringify({ lines })]
      return { text, calls: [{ id: `call_${at}`, name: `look_${at % 30}`, arguments: args }] }
    })
    const text = [`Part ${turn} is in order: ${'what was asked for is open. '.repeat(10)}`]
    const outcome = await stage.turn(`How is part ${turn}? 请检查。`, ...calls, { text })
    if (outcome.reason !== 'completed') throw new Error(JSON.stringify(outcome))
  }
}

/**
 * Of all bytes of these bodies but the first, the share that stands at the beginning of the body
 * before: what a provider may have in its cache.
 */
export function repeatedShare(texts: readonly string[]): number {
  let [repeated, all] = [0, 0]
  for (const [at, text] of texts.entries()) {
    const before = texts[at - 1]
    if (before === undefined) continue
    repeated += commonBytes(Buffer.from(before), Buffer.from(text))
    all += Buffer.byteLength(text)
  }
  return repeated / all
}

function commonBytes(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length += 1
  return length
}
