import models from '@cordage/core/model'
import { createRoot, mount } from '@cordage/core/kernel'
import { ask, makeRequest, pluginContract, say } from '@cordage/testkit'
import { expect, it } from 'vitest'
import plugin from '../src/index.ts'

pluginContract('{{name}}', { plugin, badConfigs: [{ prefix: 7 }] })

it('answers, and ends promptly when it is cancelled', async () => {
  const root = createRoot()
  await mount(root, { id: 'core-model', plugin: models, config: {}, timeoutMs: 1000 }).settled()
  await mount(root, { id: '{{row}}', plugin, config: {}, timeoutMs: 1000 }).settled()
  const { route } = root.models.resolve('{{row}}/echo')
  const request = makeRequest('{{row}}', 'echo', [say.user('hi')])
  const answer = await ask(route, request)
  expect(answer.content).toMatchObject([{ type: 'text', text: 'You said: hi' }])

  const body = await route.body(request)
  const cancelled = route.stream(request, body, { signal: AbortSignal.abort(new Error('stop')) })
  await expect(cancelled[Symbol.asyncIterator]().next()).rejects.toThrow('stop')
})
