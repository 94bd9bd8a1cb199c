import {
  accessRoute,
  joinURL,
  mapWireIds,
  type RequestMessage,
  routeFields,
} from '@cordage/core/model'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const schema = z.strictObject(routeFields)
const base = { displayName: 'Hub', baseURL: 'https://hub.example/v1' }

const access = (variables: Record<string, string>, apiKeyEnv?: string) => {
  const own = (name: string) => variables[name]
  const credentials = {
    has: (name: string) => own(name) !== undefined,
    reveal: (name: string) => {
      const value = own(name)
      if (value === undefined) throw new Error(`no ${name}`)
      return value
    },
  }
  const route = { baseURL: 'http://vendor', baseURLEnv: 'HUB_URL', apiKeyEnv }
  return accessRoute(route, { credentials, variable: own })
}

const calls = (provider: string, ...ids: [id: string, wireId?: string][]): RequestMessage => ({
  message: {
    id: 'm',
    role: 'assistant',
    source: { kind: 'model', provider, model: 'x' },
    content: ids.map(([id, wireId]) => {
      const call = { type: 'tool-call', id, name: 'f', arguments: '{}' } as const
      return wireId === undefined ? call : { ...call, wireId }
    }),
  },
})

describe('the configuration of a route', () => {
  it.each(['chat/completions', 'responses', 'v1/messages', 'messages/'])(
    'refuses the endpoint %s as a base URL',
    (path) => {
      const parsed = schema.safeParse({ ...base, baseURL: `https://hub.example/${path}` })
      expect(parsed.error?.message).toContain('without the endpoint')
    },
  )

  it('refuses what is no web address, and ids with spaces', () => {
    expect(schema.safeParse({ ...base, baseURL: 'file:///etc' }).success).toBe(false)
    expect(schema.safeParse({ ...base, baseURL: 'hub' }).success).toBe(false)
    expect(schema.safeParse({ ...base, models: [{ id: ' m' }] }).success).toBe(false)
  })

  it('takes numbers and null as efforts, also under the name off', () => {
    const models = [{ id: 'm', efforts: { off: null, high: 32_000 } }]
    expect(schema.parse({ ...base, models }).models[0]?.efforts).toEqual({
      off: null,
      high: '32000',
    })
  })

  it('joins a base URL with and without a slash at its end', () => {
    expect(joinURL('http://a/v1/', 'x')).toBe('http://a/v1/x')
    expect(joinURL('http://a/v1', 'x')).toBe('http://a/v1/x')
  })
})

describe('accessRoute', () => {
  it('is available with a key, with a base URL of the person, or where no key is needed', () => {
    expect(access({}, 'HUB_KEY').available()).toBe(false)
    expect(access({ HUB_KEY: 'k' }, 'HUB_KEY').available()).toBe(true)
    expect(access({ HUB_URL: 'http://local' }, 'HUB_KEY').available()).toBe(true)
    expect(access({}).available()).toBe(true)
  })

  it('asks for a key only where the vendor is reached', () => {
    expect(() => access({}, 'HUB_KEY').apiKey()).toThrow('no HUB_KEY')
    const local = access({ HUB_URL: 'http://local' }, 'HUB_KEY')
    expect([local.baseURL(), local.apiKey()]).toEqual(['http://local', undefined])
    expect(access({ HUB_URL: 'http://local', HUB_KEY: 'k' }, 'HUB_KEY').apiKey()).toBe('k')
  })
})

describe('mapWireIds', () => {
  it('gives a route the ids back that it gave, where they are usable', () => {
    const wire = mapWireIds(
      [calls('hub', ['n1', 'x'], ['n2', 'x'], ['n3', '']), calls('hub', ['n4', 'x'])],
      'hub',
    )
    expect(['n1', 'n2', 'n3', 'n4'].map(wire)).toEqual(['x', 'n2', 'n3', 'x'])
    const other = mapWireIds([calls('hub', ['n1', 'x'])], 'other')
    expect(other('n1')).toBe('n1')
  })

  it('fits foreign ids to what a protocol accepts', () => {
    const long = `${'a'.repeat(80)}-end`
    const wire = mapWireIds([calls('hub', ['a:b/c'], [long])], 'other')
    expect(wire('a:b/c')).toBe('a_b_c')
    expect(wire(long)).toHaveLength(64)
    expect(wire(long)).toMatch(/-end$/)
  })
})
