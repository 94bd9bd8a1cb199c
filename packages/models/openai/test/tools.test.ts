import { makeRequest, say } from '@cordage/testkit'
import { describe, expect, it } from 'vitest'
import { makeProvider } from './route.ts'

const closed = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const tool = (name: string, parameters: Record<string, unknown>) => {
  return { name, description: 'x', parameters }
}
const many = (count: number) => Array.from({ length: count }, (_, at) => tool(`t${at}`, closed))
const asking = (tools: ReturnType<typeof many>) =>
  makeRequest('peer', 'm', [say.user('hi')], { tools })

describe.each(['openai-completions', 'openai-responses'])('tools over %s', (api) => {
  it('are strict where the route says so and their schema can be', async () => {
    const tools = [tool('closed', closed), tool('open', { ...closed, required: [] })]
    const strict = async (strictTools: boolean) => {
      const provider = makeProvider({ api, compat: { strictTools } })
      return JSON.stringify(await provider.body(asking(tools))).match(/"strict":true/g)?.length ?? 0
    }
    expect([await strict(true), await strict(false)]).toEqual([1, 0])
  })

  it('are not sent when they are more than the server takes, with what to do', async () => {
    const provider = makeProvider({ api })
    expect(await provider.body(asking(many(128)))).toMatchObject({ tools: { length: 128 } })
    const failing = provider.body(asking(many(129)))
    await expect(failing).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    await expect(failing).rejects.toThrow(/129 tools, and it takes 128.*compat\.maxTools/)
    const larger = makeProvider({ api, compat: { maxTools: 200 } })
    expect(await larger.body(asking(many(200)))).toMatchObject({ tools: { length: 200 } })
  })
})
