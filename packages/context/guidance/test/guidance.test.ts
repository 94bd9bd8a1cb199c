import { expect, it } from 'vitest'
import { createRoot, mount, openScope } from '@cordage/core/kernel'
import { estimateTokens } from '@cordage/core/model'
import prompt from '@cordage/core/prompt'
import guidance from '../src/index.ts'

const input = {
  sessionId: 's',
  project: '/p',
  cwd: '/p',
  provider: 'test',
  model: 'm',
  turn: 1,
  step: 1,
  toolNames: [],
  signal: new AbortController().signal,
}

it('adds its sections within 300 tokens, lets a scope override one, and is gone after dispose', async () => {
  const root = createRoot()
  const core = mount(root, { id: 'core-prompt', plugin: prompt, config: {}, timeoutMs: 2_000 })
  await core.settled()
  const row = mount(root, {
    id: 'context-guidance',
    plugin: guidance,
    config: {},
    timeoutMs: 2_000,
  })
  expect(await row.settled()).toEqual({ state: 'active' })
  const scope = openScope(root, 'agent')

  const { system, sections } = await root.prompt.assemble(scope, input)
  expect(sections.map(({ id, row: from }) => [id, from])).toEqual([
    ['identity', 'context-guidance'],
    ['working', 'context-guidance'],
  ])
  expect(estimateTokens(system)).toBeLessThan(300)

  root.prompt.section(scope.ctx, { id: 'identity', render: () => 'You are a pirate.' })
  const other = await root.prompt.assemble(scope, input)
  expect(other.system).toContain('pirate')
  expect(other.system).not.toContain('You are Cordage')

  root.prompt.section(scope.ctx, { id: 'all', complete: true, render: () => '' })
  expect((await root.prompt.assemble(scope, input)).system).toBe('')

  await scope.close()
  await row.dispose()
  expect((await root.prompt.assemble(openScope(root, 'next'), input)).sections).toEqual([])
})
