import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkWorkspace } from '../../packages/kit/create-plugin/test/workspace.ts'
import { repository } from './fixture/place.ts'
import { runStrangerTests, type StrangerResult } from './fixture/stranger-tests.ts'

/** Stores of somebody else: a sound one, and some that each break one promise. */
const STORES = `import { storeContract } from '@cordage/testkit'
import { MemoryStore } from '@cordage/store-memory'

/** Gives what opens a session another look. */
const changing = (change) => {
  const store = new MemoryStore()
  for (const name of ['create', 'open', 'fork']) {
    const original = store[name].bind(store)
    store[name] = async (...args) => change(await original(...args), args)
  }
  return store
}
const over = (log, more) => new Proxy(log, {
  get: (_, name) => {
    const value = name in more ? more[name] : Reflect.get(log, name)
    return typeof value === 'function' ? value.bind(log) : value
  },
})
const strip = ({ type, v, seq, time, data }) => ({ type, v, seq, time, data })
const stores = {
  sound: () => new MemoryStore(),
  forgetful: () => changing((log) => over(log, {
    append: (facts, options) => log.append(facts.length > 1 ? facts.slice(0, -1) : facts, options),
  })),
  tidying: () => changing((log) => over(log, {
    append: (facts, options) => log.append(facts.map(strip), options),
  })),
  lax: () => {
    const store = new MemoryStore()
    const open = store.open.bind(store)
    store.open = (id, options) => open(id, { ...options, takeOver: true })
    return store
  },
  blank: () => changing((log) => over(log, { putBlob: (bytes) => log.putBlob(bytes.slice(1)) })),
  hasty: () => {
    const store = new MemoryStore()
    store.stage = async (header) => {
      const log = await store.create(header)
      return over(log, { publish: () => log.close() })
    }
    return store
  },
  haunted: () => changing((log) => over(log, {
    refresh: () => log.refresh().catch(() => ({ facts: [], live: [] })),
  })),
  mute: () => changing((log) => over(log, { refresh: async () => ({ facts: [], live: [] }) })),
}
for (const [name, make] of Object.entries(stores)) {
  storeContract(name, async () => {
    return { store: make(), dispose: async () => {} }
  })
}
`

let base: string
let results: StrangerResult[]
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-store-kit-')))
  await linkWorkspace(base)
  // Packed it is there, as what the kit depends on.
  const memory = join(base, 'node_modules/@cordage/store-memory')
  if (!existsSync(memory)) await symlink(join(repository, 'packages/stores/memory'), memory)
  results = await runStrangerTests(base, STORES)
})
afterAll(() => rm(base, { recursive: true, force: true }))

const failed = (name: string) => {
  const own = results.filter(({ fullName }) => fullName.startsWith(`${name} keeps`))
  expect(own.length).toBeGreaterThan(20)
  return own.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
}

describe('the contract of stores', () => {
  it('is kept by a store of somebody else, without anything of ours around it', () => {
    expect(failed('sound')).toEqual([])
  })

  it.each([
    ['forgetful', 'facts reads back what was appended, in order, before and after reopening'],
    ['tidying', 'contents keeps types, versions and members that it does not know'],
    ['lax', 'owners refuses a second writer until the first has closed'],
    ['blank', 'blobs and the live lane gives blobs back by what is in them'],
    ['hasty', 'stages shows a staged session to nobody before it is published, and then all of it'],
    ['haunted', 'views tells a view of a session that was deleted that it is gone'],
    ['mute', 'views gives a view what its owner adds, once'],
  ])('fails for a store that is %s: %s', (name, title) => {
    expect(failed(name)).toContain(`${name} keeps the store contract ${title}`)
  })
})
