import { createRoot, mount, openScope } from '@cordage/core/kernel'
import prompt from '@cordage/core/prompt'
import { pluginContract } from '@cordage/testkit'
import { expect, it } from 'vitest'
import plugin from '../src/index.ts'

pluginContract('{{name}}', { plugin, badConfigs: [{ text: '' }] })

it('says its text in the prompt until it is unloaded', async () => {
  const root = createRoot()
  await mount(root, { id: 'core-prompt', plugin: prompt, config: {}, timeoutMs: 1000 }).settled()
  const config = { text: 'Be brief.' }
  const row = mount(root, { id: '{{row}}', plugin, config, timeoutMs: 1000 })
  await row.settled()
  expect(await system()).toBe('Be brief.')
  await row.dispose()
  expect(await system()).toBe('')

  async function system() {
    const place = { sessionId: 's', project: '/', cwd: '/', provider: 'p', model: 'm' }
    const step = { turn: 1, step: 1, toolNames: [], signal: AbortSignal.timeout(1000) }
    return (await root.prompt.assemble(openScope(root, 'test'), { ...place, ...step })).system
  }
})
