import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linkWorkspace } from '../../packages/kit/create-plugin/test/workspace.ts'
import { runStrangerTests, type StrangerResult } from './fixture/stranger-tests.ts'

/** Plugins that each break one promise, under the contract that says so. */
const WRONG = `import { definePlugin } from '@cordage/core/kernel'
import { defineTool } from '@cordage/core/tool'
import { frontendContract, pluginContract, policyContract, toolContract } from '@cordage/testkit'
import { own } from '@cordage/core/kernel'
import { z } from 'zod'

pluginContract('leaks', { plugin: definePlugin({
  name: 'leaks',
  apply: (ctx) => void ctx.root.on('internal/service', () => {}),
}) })
pluginContract('takes anything', { plugin: definePlugin({
  name: 'lenient', config: z.looseObject({}), apply: () => {},
}) })
pluginContract('throws', { plugin: definePlugin({
  name: 'throws', apply: () => { throw new TypeError('no') },
}) })

const parameters = z.looseObject({})
toolContract('answers everything', {
  plugin: definePlugin({
    name: 'loose',
    inject: ['tools'],
    apply: (ctx) => ctx.tools.register(ctx, defineTool({
      name: 'loose', description: 'Takes whatever it gets.', parameters, effects: () => [],
      execute: async () => 'x',
    })),
  }),
  calls: [{ name: 'loose', args: {} }],
})
policyContract('changes nothing', {
  plugin: definePlugin({ name: 'idle', apply: () => {} }),
  decisions: [{ effect: { kind: 'net', host: 'a', port: 1 }, mode: 'full-access', answer: 'deny' }],
})
frontendContract('says nothing', { plugin: definePlugin({
  name: 'mute', provides: ['frontend'],
  apply: (ctx) => own(ctx, 'frontend', { run: async () => 0 }),
}) })
`

let base: string
let results: StrangerResult[]
beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'cordage-kits-')))
  await linkWorkspace(base)
  results = await runStrangerTests(base, WRONG)
})
afterAll(() => rm(base, { recursive: true, force: true }))

describe('a contract', () => {
  it.each([
    ['leaks keeps the plugin contract leaves nothing behind'],
    ['takes anything keeps the plugin contract refuses the config'],
    ['throws keeps the plugin contract leaves nothing behind'],
    ['answers everything keeps the tool contract loose {} refuses other arguments'],
    ['changes nothing keeps the policy contract judges'],
    ['says nothing keeps the frontend contract gives the answer'],
    ['says nothing keeps the frontend contract ends with the code of what failed'],
    ['says nothing keeps the frontend contract has in the log what was asked'],
  ])('fails where it is broken: %s', (title) => {
    const found = results.filter(({ fullName }) => fullName.startsWith(title))
    expect(found.map(({ status }) => status)).toEqual(['failed'])
  })

  it('holds in everything else', () => {
    const passed = results.filter(({ status }) => status === 'passed').map((one) => one.fullName)
    expect(passed).toContain(
      'leaks keeps the plugin contract refuses the config {"no such field":true}',
    )
    expect(passed.filter((name) => name.startsWith('answers everything'))).toHaveLength(4)
  })
})
