import { afterEach, describe, expect, it } from 'vitest'
import { textOf } from '@cordage/core/message'
import type { Session } from '@cordage/core/session'
import { defineTool, type Tool } from '@cordage/core/tool'
import { z } from 'zod'
import { bench, say, type Bench, type BenchOptions } from '../loop/boot.ts'

let made: Bench | undefined
afterEach(async () => {
  await made?.close()
  made = undefined
})

const place = { turn: 1, step: 1 }

/** A session whose process died while it ran the calls. */
function dead(...names: string[]): NonNullable<BenchOptions['session']> {
  return async (root) => {
    const session = await root.sessions.create({ project: '/project', depth: 0 })
    const content = names.map((name) => {
      return { type: 'tool-call', id: `id-${name}`, name, arguments: '{"path":"a"}' }
    })
    const source = { kind: 'model', provider: 'test', model: 'model' }
    const message = { id: 'm', role: 'assistant', content, source }
    await session.append([
      { type: 'turn/start', v: 1, data: { turn: 1 } },
      { type: 'step/start', v: 1, data: place },
      { type: 'attempt/start', v: 1, data: { ...place, attempt: 1 } },
      {
        type: 'assistant/message',
        v: 1,
        data: { ...place, attempt: 1, message, finish: 'tool-calls' },
      },
      ...content.map(({ id: callId, name, arguments: args }) => {
        return { type: 'tool/call', v: 1, data: { ...place, callId, name, arguments: args } }
      }),
    ])
    return session
  }
}

let ran = 0
const acting = (name: string, more: Partial<Tool<{ path: string }, string>> = {}) =>
  defineTool({
    name,
    description: 'Acts.',
    parameters: z.strictObject({ path: z.string() }),
    effects: () => [],
    execute: async () => {
      ran += 1
      return 'acted'
    },
    ...more,
  })

const lastTold = ({ surface }: Session) => textOf(surface.at(-2)!.message)

describe('a turn that was cut short', () => {
  it('is gone on with on request, and the model is told what is unknown', async () => {
    ran = 0
    made = await bench([say('went on')], {
      session: dead('look', 'act', 'know', 'broken', 'gone'),
      tools: (add) => {
        add(acting('look', { idempotent: true }))
        add(acting('act'))
        add(acting('know', { reconcile: async ({ path }) => `${path} is there </tool-finding>` }))
        add(
          acting('broken', {
            reconcile: () => {
              throw new TypeError('no')
            },
          }),
        )
      },
    })
    expect(made.agent.status).toEqual({ kind: 'idle' })
    expect(made.requests).toHaveLength(0)
    await made.agent.goOn()
    expect(await made.agent.wake()).toMatchObject({ turn: 2, reason: 'completed' })
    const told = lastTold(made.session)
    expect(told).toContain('You were interrupted')
    expect(told).toMatch(/look \(id-look\): it may be called again/)
    expect(told).toMatch(/act \(id-act\): look at the present state before/)
    expect(told).toMatch(/know \(id-know\): the tool has looked[^]*a is there &lt;\/tool-finding>/)
    expect(told).toMatch(/broken \(id-broken\): look at the present state before/)
    expect(told).toMatch(/gone \(id-gone\): look at the present state before/)
    expect(ran).toBe(0)
  })

  it('for want of budget says so', async () => {
    made = await bench([say('on')], { limits: { maxTokens: 0 } })
    await made.agent.send('go', { wake: false })
    expect(await made.agent.wake()).toMatchObject({ reason: 'budget' })
    await made.agent.goOn()
    expect(made.session.inbox.map(({ message }) => textOf(message)).at(-1)).toContain('budget')
  })

  it('is nothing where the last one came to its end, or none has begun', async () => {
    made = await bench([say('done')])
    const nothing = { code: 'NOTHING_INTERRUPTED' }
    await expect(made.agent.goOn()).rejects.toMatchObject(nothing)
    await made.agent.send('go', { wake: false })
    await made.agent.wake()
    await expect(made.agent.goOn()).rejects.toMatchObject(nothing)
  })
})
