import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRoot, definePlugin, mount, own, type RootContext } from '@cordage/core/kernel'
import { textMessage } from '@cordage/core/message'
import { assistantMessage, toolResult, userMessage, type NewFact } from '@cordage/core/session'
import '@cordage/core/store'
import index from '../../packages/stores/index/src/index.ts'
import { createJsonlStore, ThreadCatalog } from '../../packages/stores/jsonl/src/index.ts'
import { optionsFor } from './many-sessions.ts'
import type { Row } from './row.ts'

const SESSIONS = 200
const EVENTS = 500
const ROUNDS = 10

/** Words as they are in texts: some are everywhere, most are rare. */
const words = Array.from({ length: 20_000 }, (_, at) => `w${((at * 7919) % 20_000).toString(36)}`)
const han = Array.from('会话数据库搜索索引压缩记忆模型工具任务文件项目代码测试错误修复分析结果')

const queries =
  'w0|w0 w5|"w0 w0"|error|w7zz|rare4711|w5*|数据|数据库|会|src/file42.ts|parseConfig|"the result of"'

/** 100,000 events: what it takes to index them, to find words in them, and on the disk. */
export async function measureSearch(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'cordage-bench-'))
  const root = createRoot()
  try {
    await fill(folder)
    const begin = performance.now()
    await open(root, folder)
    await root.sessionQuery.events({ text: 'rare4711', waitMs: 600_000 })
    const seconds = (performance.now() - begin) / 1000
    const samples: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const text of queries.split('|')) samples.push(await timed(root, text))
    }
    const mb = statSync(join(folder, 'search.db')).size / 2 ** 20
    return [
      { name: 'search: 100000 events', unit: 'ms', samples, limit: { of: 'median', at: 50 } },
      { name: 'search: slowest of 100000 events', unit: 'ms', samples: [Math.max(...samples)] },
      { name: 'index: 1000 events', unit: 'ms', samples: [(seconds * 1e6) / (SESSIONS * EVENTS)] },
      { name: 'index: size of 100000 events', unit: 'MB', samples: [mb] },
    ]
  } finally {
    await root.fiber.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function timed(root: RootContext, text: string): Promise<number> {
  const begin = performance.now()
  await root.sessionQuery.events({ text })
  return performance.now() - begin
}

async function open(root: RootContext, folder: string): Promise<void> {
  const catalog = new ThreadCatalog({ root: folder })
  const store = definePlugin({
    name: 'store',
    provides: ['store'],
    apply: (ctx) => {
      const made = createJsonlStore({ ...optionsFor(folder), catalog })
      own(ctx, 'store', made, () => made.close())
    },
  })
  for (const [id, plugin] of Object.entries({ store, index })) {
    await mount(root, { id, plugin, config: {}, timeoutMs: 20_000 }).settled()
  }
}

async function fill(folder: string): Promise<void> {
  const store = createJsonlStore(optionsFor(folder))
  for (let at = 0; at < SESSIONS; at += 1) {
    const id = `01K${String(at).padStart(8, '0')}`
    const log = await store.create({ format: 1, id, createdAt: at, project: '/p', depth: 0 })
    const facts = Array.from({ length: EVENTS }, (_, seq) => {
      return { ...factOf(at * EVENTS + seq), seq, time: 1_760_000_000_000 + at * 1e6 + seq * 1000 }
    })
    for (let from = 0; from < EVENTS; from += 50) {
      await log.append(facts.slice(from, from + 50), { sync: false })
    }
    await log.close()
  }
  await store.close()
}

function factOf(at: number): NewFact {
  const text = textOf(at)
  const model = { kind: 'model', provider: 'p', model: 'm' } as const
  switch (at % 4) {
    case 0:
      return userMessage({ message: textMessage(`u${at}`, 'user', text, { kind: 'user' }) })
    case 1: {
      const message = textMessage(`a${at}`, 'assistant', text, model)
      return assistantMessage({ turn: 1, step: 1, attempt: 1, finish: 'stop', message })
    }
    default: {
      const content = [{ type: 'text' as const, text: `${text}\n${textOf(at + 1)}` }]
      const part = {
        type: 'tool-result',
        callId: 'c',
        name: 'bash',
        content,
        isError: false,
      } as const
      const call = { turn: 1, step: 1, callId: 'c', name: 'bash' }
      return toolResult({ ...call, messageId: `r${at}`, part })
    }
  }
}

/** Some forty words, a sentence in Chinese, a path and a name; the same for the same number. */
function textOf(at: number): string {
  let state = at + 1
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const some = Array.from({ length: 40 }, () => words[Math.floor(random() ** 3 * words.length)])
  const chinese = Array.from({ length: 12 }, () => han[Math.floor(random() * han.length)]).join('')
  const name = at % 100 === 0 ? 'parseConfigFile' : 'readFile'
  return `${some.join(' ')} the result of rare${at} in src/file${at % 500}.ts: ${name}() error。${chinese}`
}
