import { openToolBench, pluginContract, toolContract } from '@cordage/testkit'
import { expect, it } from 'vitest'
import plugin from '../src/index.ts'

pluginContract('{{name}}', { plugin, badConfigs: [{ greeting: 7 }] })
toolContract('{{name}}', {
  plugin,
  calls: [{ name: '{{word}}', args: { name: 'Ada' } }],
})

it('greets as it is told to', async () => {
  const rows = { '{{row}}': plugin }
  await using bench = await openToolBench({ rows, config: { '{{row}}': { greeting: 'Ciao' } } })
  const { text } = await bench.call('{{word}}', { name: 'Ada' })
  expect(text).toBe('Ciao, Ada!')
})
