import { createRoot, footprint, mount } from '@cordage/core/kernel'
import type { Message } from '@cordage/core/message'
import coreModel from '@cordage/core/model'
import { ask, makeRequest, say } from '@cordage/testkit'
import plugin from '../src/index.ts'

/** The scripted row on a root with the registry of models. */
export async function boot(scripts?: unknown) {
  const root = createRoot()
  const timeoutMs = 2_000
  await mount(root, { id: 'core-model', plugin: coreModel, config: {}, timeoutMs }).settled()
  const before = footprint(root)
  const config = scripts === undefined ? {} : { scripts }
  const row = mount(root, { id: 'model-scripted', plugin, config, timeoutMs })
  return { root, row, before, state: await row.settled() }
}

/** The answer of a script to messages. */
export async function play(name: string, scripts: unknown, ...messages: Message[]) {
  const { root } = await boot(scripts)
  const { route, model } = root.models.resolve(`scripted/${name}`)
  return ask(route, makeRequest('scripted', model, messages))
}

export const answer = (text: string) => say.assistant('scripted', 's', [{ type: 'text', text }])
export const result = (text: string, name = 'bash', failed = false) =>
  say.tool('c', name, [{ type: 'text', text }], failed)
