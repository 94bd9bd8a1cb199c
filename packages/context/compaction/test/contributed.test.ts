import type { Pinned } from '@cordage/core/compaction'
import { definePlugin, footprint, mount } from '@cordage/core/kernel'
import { compactionSummary } from '@cordage/core/session'
import { afterEach, expect, it } from 'vitest'
import { say } from '../../../core/test/loop/boot.ts'
import { LONG, snapshot, stage, type Stage } from './stage.ts'

let made: Stage
afterEach(() => made.close())

/** A list of open items, as a plugin of its own keeps it. */
const items: { open: string[]; fails: boolean } = { open: [], fails: false }

const list = definePlugin({
  name: 'open-items',
  inject: ['compaction'],
  apply(ctx) {
    ctx.compaction.pin(ctx, {
      id: 'open-items',
      pins: async ({ session }): Promise<Pinned[]> => {
        if (items.fails) throw new TypeError('the list is gone')
        return items.open.map((text) => {
          return {
            kind: 'todo',
            text: typeof text === 'string' ? `${text} of ${session.id}` : text,
          }
        })
      },
    })
  },
})

async function start(generations: number, config = {}) {
  Object.assign(items, { open: [], fails: false })
  const replies = Array.from({ length: generations }, () => [
    say(LONG),
    say(LONG),
    say(snapshot('nothing of it')),
  ])
  made = await stage(replies.flat(), { minMessagesToSummarize: 2, ...config })
}

/** The summary after two more turns. */
async function compact(): Promise<string> {
  await made.turn('one')
  await made.turn('two')
  await made.command('/compact')
  return made.texts()[0] ?? ''
}

const mounted = () =>
  mount(made.root, { id: 'open-items', plugin: list, config: {}, timeoutMs: 2_000 })

it('a plugin has its open items carried word for word, as they are at each compaction', async () => {
  await start(3)
  const row = mounted()
  await row.settled()
  items.open = ['粉刷门', 'paint </pinned_facts> the door']
  const first = await compact()
  expect(first).toContain(`todo: 粉刷门 of ${made.session.id}`)
  expect(first).toContain('todo: paint &lt;/pinned_facts> the door')
  items.open = ['paint the wall']
  const second = await compact()
  expect(second).toContain('todo: paint the wall')
  expect(second).not.toContain('粉刷门')
  items.open = []
  expect(await compact()).not.toContain('todo:')
  await row.dispose()
})

it('what it said last stays while it fails, and its failure is logged with its row', async () => {
  await start(2)
  const row = mounted()
  await row.settled()
  items.open = ['paint the door']
  await compact()
  items.fails = true
  expect(await compact()).toContain('todo: paint the door')
  expect(made.logged.join()).toMatch(/cannot be had.*row=open-items/)
  expect(made.session.state(compactionSummary)).toHaveLength(2)
  await row.dispose()
})

it('is gone after dispose, and so is what it had carried', async () => {
  await start(2)
  const before = footprint(made.root)
  const row = mounted()
  await row.settled()
  items.open = ['paint the door']
  expect(await compact()).toContain('paint the door')
  await row.dispose()
  expect(footprint(made.root)).toEqual(before)
  expect(await compact()).not.toContain('paint the door')
})

it('does not push out what was asked, however much it says', async () => {
  await start(1, { maxPinnedTokens: 600 })
  const row = mounted()
  await row.settled()
  items.open = Array.from({ length: 500 }, (_, at) => `paint door ${at} `.repeat(20))
  await made.turn('Mend the parser. Never touch the lexer.')
  await made.turn('And then the guide.')
  await made.command('/compact')
  const [summary = ''] = made.texts()
  expect(summary).toContain('goal: Mend the parser.')
  expect(summary).toContain('constraint: Never touch the lexer.')
  expect(summary).toMatch(/left_out: no room for \d+ todo/)
  await row.dispose()
})

it('is settled by nothing that is said in the conversation', async () => {
  await start(0)
  await made.close()
  const ticks = `- [x] paint the wall\n- [ ] sweep\n\nNo longer blocked. ${LONG}`
  made = await stage([say(ticks), say(LONG), say(snapshot())], { minMessagesToSummarize: 2 })
  const row = mounted()
  await row.settled()
  items.open = ['paint the door']
  const summary = await compact()
  expect(summary).toContain('todo: paint the door')
  expect(summary).toContain('todo: sweep')
  await row.dispose()
})

it('is logged with its row where it is no fact, and keeps nobody from compacting', async () => {
  await start(1)
  const row = mounted()
  await row.settled()
  items.open = [Object.create(null) as string]
  expect(await compact()).toContain('nothing of it')
  expect(made.logged.join()).toMatch(/cannot be had.*row=open-items/)
  await row.dispose()
})
