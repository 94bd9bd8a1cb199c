import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeAnswer } from '../../packages/kit/testkit/src/model-wire.ts'
import { startModelPeer, streamReply } from '../../packages/kit/testkit/src/model-peer.ts'
import { describe, expect, it } from 'vitest'
import { runCli } from '../e2e/fixture/cli.ts'
import { packed } from '../e2e/fixture/installation.ts'
import { makePlace } from '../e2e/fixture/place.ts'

interface Start {
  readonly modules: string[]
  readonly native: string[]
  readonly workers: number
  readonly watchers: number
}

/** What a run of the packed product has loaded and started by its first request. */
async function recordStart(): Promise<Start> {
  await using place = await makePlace()
  const peer = await startModelPeer()
  peer.reply(streamReply(encodeAnswer('openai-completions', { text: ['Hello.'] })))
  const record = join(place.base, 'start.json')
  const env = {
    DEEPSEEK_BASE_URL: `${peer.url}/v1`,
    START_RECORD: record,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'record-start.mjs')}`,
  }
  const { code, stderr } = await runCli(place, ['Say hello'], { env })
  await peer.close()
  expect(code, stderr).toBe(0)
  return JSON.parse(readFileSync(record, 'utf8')) as Start
}

describe('before its first request, a run', () => {
  it('starts no worker and no watcher, and loads natively what makes the log durable', async () => {
    const { native, workers, watchers } = await recordStart()
    expect({ workers, watchers }).toEqual({ workers: 0, watchers: 0 })
    const modules = join(packed ?? '', 'node_modules/')
    const libraries = native.map((file) => file.replace(modules, '').split('/')[0])
    // Frames of the log, and the lock of its lease.
    expect(libraries.toSorted()).toEqual(['@mongodb-js', 'better-sqlite3'])
  })

  it('loads the adapter of its own route, and nothing that only other commands need', async () => {
    const { modules } = await recordStart()
    const chunks = modules.flatMap(
      (url) => /@cordage\/(model-\w+)\/dist\/chunks/.exec(url)?.[1] ?? [],
    )
    expect([...new Set(chunks)]).toEqual(['model-openai'])
    const idle = /\/(unpdf|@vscode|create-plugin|testkit|diff|vitest)\//
    expect(modules.filter((url) => idle.test(url))).toEqual([])
    const watching = modules.filter((url) => /cordage\/dist\/chunks\/watch/.test(url))
    expect(watching).toEqual([])
  })
})
