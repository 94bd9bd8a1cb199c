import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRoot, definePlugin, mount, own, type Mounted } from '@cordage/core/kernel'
import { sessionArchived, sessionTitle } from '@cordage/core/session'
import coreStore from '@cordage/core/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codeOf } from '../../../kit/testkit/src/store-fixture.ts'
import storeJsonl, { createJsonlStore, nodeIo } from '../../../stores/jsonl/src/index.ts'
import { followSession } from '../src/commands/session-follow.ts'

let base: string
let root: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'cordage-follow-'))
  root = join(base, 'sessions')
})
afterEach(() => rm(base, { recursive: true, force: true }))

const folder = () => join(root, 'watched')

/** Somebody follows a session that nobody owns. */
async function following() {
  const host = { env: {}, home: base, cwd: base, version: '0.0.0' }
  const hostRow = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', host),
  })
  const ctx = createRoot()
  const rows: Mounted[] = []
  for (const plugin of [hostRow, storeJsonl, coreStore]) {
    const row = mount(ctx, { id: plugin.name, plugin, config: {}, timeoutMs: 1000 })
    await row.settled()
    rows.unshift(row)
  }
  const owner = await ctx.sessions.create({ id: 'watched', project: '/p', depth: 0 })
  await owner.append([sessionTitle({ title: 'A title', by: 'user' })])
  await owner.close()
  const view = await ctx.sessions.open('watched', { mode: 'read' })
  const seen: string[] = []
  const textOfFact = ({ type }: { type: string }) => void seen.push(type)
  const ended = followSession(ctx, view, { textOfFact, deltas: false })
  const dispose = async () => {
    for (const row of rows) await row.dispose()
  }
  return { ctx, seen, code: codeOf(ended), dispose }
}

const other = () => {
  const segmentMaxBytes = 1024 * 1024
  return createJsonlStore({ directory: root, segmentMaxBytes, compression: 'zstd', io: nodeIo })
}

describe('following a session', () => {
  it('goes on when it is renamed, put away and packed', async () => {
    const { ctx, seen, code, dispose } = await following()
    for (const title of ['One title', 'Another title']) {
      const again = await ctx.sessions.open('watched')
      await again.append([sessionTitle({ title, by: 'user' }), sessionArchived({ archived: true })])
      await again.close()
      await expect.poll(() => seen.splice(0), { timeout: 5000 }).toHaveLength(2)
      await other().upkeep?.pack('watched')
    }
    await other().delete('watched')
    expect(await code).toBe('SESSION_GONE')
    await dispose()
  })

  it.each([
    ['deleted', () => other().delete('watched')],
    ['given another folder', () => rename(folder(), `${folder()}-else`)],
    ['moved with all others', () => rename(root, `${root}-else`)],
    [
      'left without a log',
      async () => {
        await rm(folder(), { recursive: true })
        await mkdir(folder())
      },
    ],
  ])('ends when it is %s', async (_, end) => {
    const { code, dispose } = await following()
    await end()
    expect(await code).toBe('SESSION_GONE')
    await dispose()
  })

  it('ends when its store is unloaded', async () => {
    const { code, dispose } = await following()
    await dispose()
    expect(await code).toBe('SESSION_CLOSED')
  })
})
