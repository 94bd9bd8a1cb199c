import type { Agent } from '@cordage/core/agent'
import {
  describeFailure,
  definePlugin,
  log,
  rowOf,
  type Plugin,
  type PluginContext,
} from '@cordage/core/kernel'
import { preStep, turnStopping } from '@cordage/core/loop'
import type { ResolvedModel } from '@cordage/core/model'
import { defineEvent, sessionTitle, type FactOf, type Session } from '@cordage/core/session'
import { z } from 'zod'
import { askForTitle } from './ask-title.ts'

const config = z.strictObject({
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .default(10_000)
    .describe('A title that has not come by then is not waited for.'),
})

type TitleContext = PluginContext<'models' | 'sessions'>

/** A model was asked for a title, or will not be: once is enough, whatever came of it. */
export const titleAsked = defineEvent({
  type: 'title/asked',
  schema: z.object({}),
  initial: false,
  reduce: () => true,
})

/**
 * Has the model of the role `title` title a session when its second turn begins: what has one turn
 * keeps its first words, and makes no request but those of its steps.
 */
const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'context-titles',
  inject: ['models', 'sessions'],
  config,
  apply(ctx, { timeoutMs }) {
    const asking = new WeakMap<Agent, Promise<void>>()
    ctx.sessions.events.register(ctx, titleAsked)
    preStep.use(ctx, ({ agent, turn, step, signal }, next) => {
      const model = step === 1 && turn > 1 ? modelFor(ctx, agent) : undefined
      if (model) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
        asking.set(agent, nameSession(ctx, agent, model, limit))
      }
      return next()
    })
    turnStopping.use(ctx, async (input, next) => {
      // The turn took longer than a title does; what it cost is in the log before the turn ends.
      await asking.get(input.agent)
      return next()
    })
  },
})

export default plugin

/** One that a person chose for titles: no other takes its place. */
function modelFor({ models }: TitleContext, agent: Agent): ResolvedModel | undefined {
  const chain = models.chain('title')
  if (chain.length === 0 || agent.parent || agent.session.state(titleAsked)) return undefined
  const model = models.default('title')
  return model && chain.includes(`${model.provider}/${model.model}`) ? model : undefined
}

/** Never fails: without an answer a session keeps the title that it has. */
async function nameSession(
  ctx: TitleContext,
  agent: Agent,
  model: ResolvedModel,
  signal: AbortSignal,
): Promise<void> {
  const { session } = agent
  try {
    await session.append([titleAsked({})], { later: true })
    if ((await lastTitle(session))?.by === 'user') return
    const redact = (text: string) => ctx.get('credentials')?.redact(text) ?? text
    const { title, spent } = await askForTitle({ row: rowOf(ctx), agent, model, redact, signal })
    const now = await lastTitle(session)
    const isTaken = title !== undefined && now?.by !== 'user'
    const named = isTaken ? { title, by: 'model' as const } : now
    // What a title cost that nobody took stands with the one that stays.
    if (named && (isTaken || spent)) {
      const { by } = named
      const fact = sessionTitle({ title: named.title, by, ...(spent ? { spent } : {}) })
      await session.append([fact], { sync: false })
    }
  } catch (error) {
    log(ctx, 'warn', 'a session was not titled', {
      session: session.id,
      error: describeFailure(error),
    })
  }
}

/** Looked for once in the life of a session, when it is asked about, and once more after that. */
async function lastTitle(
  session: Session,
): Promise<FactOf<typeof sessionTitle>['data'] | undefined> {
  let last: FactOf<typeof sessionTitle>['data'] | undefined
  for await (const fact of session.read(0)) if (sessionTitle.is(fact)) last = fact.data
  return last
}
