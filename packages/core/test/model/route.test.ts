import {
  accessRoute,
  declareModels,
  joinURL,
  mapWireIds,
  modelsOf,
  type RequestMessage,
  routeFields,
} from '@cordage/core/model'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
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
  const route = {
    api: 'anthropic-messages',
    baseURL: 'http://vendor',
    baseURLEnv: 'HUB_URL',
    apiKeyEnv,
  }
  return accessRoute(route, { credentials, variable: own })
}

function caught(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
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

describe('the window of a declared model', () => {
  const models = (fields: Record<string, unknown>) =>
    schema.safeParse({ ...base, models: [{ id: 'small', ...fields }] })

  it('is refused where an answer may take all of it, with both figures and what to do', () => {
    for (const maxTokens of [8_000, 20_000]) {
      const [issue] = models({ contextWindow: 8_000, maxTokens }).error?.issues ?? []
      expect(issue?.path).toEqual(['models', 0, 'maxTokens'])
      expect(issue?.message).toContain(`answers of small may take ${maxTokens} tokens`)
      expect(issue?.message).toContain('its window of 8000')
      expect(issue?.message).toContain('a smaller maxTokens, or the true contextWindow')
    }
    expect(models({ maxTokens: 128_000 }).success).toBe(false)
    expect(models({ contextWindow: 8_000, maxTokens: 7_999 }).success).toBe(true)
  })

  it('that alone is declared leaves three quarters for a request', () => {
    const cap = (fields: Record<string, unknown>) =>
      declareModels(models(fields).data?.models ?? [])[0]?.maxTokens
    expect([1, 4_000, 32_768, 1_000_000].map((contextWindow) => cap({ contextWindow }))).toEqual([
      1, 1_000, 8_192, 8_192,
    ])
    expect(cap({})).toBe(8_192)
  })

  it('is seen in the rows of a composition', () => {
    const { data } = models({ contextWindow: 4_000 })
    const rows = [
      { config: { providers: { hub: data } } },
      { config: { providers: 1 } },
      { config: null },
    ]
    expect([...modelsOf(rows)].map(([name, { contextWindow }]) => [name, contextWindow])).toEqual([
      ['hub/small', 4_000],
    ])
  })
})

describe('the configuration of a route', () => {
  const wrong = (fields: Record<string, unknown>) =>
    schema.safeParse({ ...base, ...fields }).error?.issues.map(({ message }) => message)

  it.each([
    ['https://hub.example/v1/chat/completions', 'give https://hub.example/v1'],
    ['https://hub.example/v1/completions', 'give https://hub.example/v1'],
    ['https://hub.example/v1/responses/', 'give https://hub.example/v1'],
    ['https://hub.example/v1/messages', 'give https://hub.example'],
    ['https://hub.example/v1/models', 'give https://hub.example/v1'],
    ['https://hub.example/v1?key=SECRET', 'give https://hub.example/v1'],
    ['https://hub.example/v1#SECRET', 'give https://hub.example/v1'],
    ['https://SECRET@hub.example/v1', 'give the key as apiKeyEnv'],
    ['https://me:SECRET@hub.example/v1', 'give the key as apiKeyEnv'],
    ['file:///etc', 'begins with file:'],
    ['hub', 'is no URL'],
    [' https://hub.example/v1', 'is no URL'],
  ])('refuses the base URL %s and says what would be right', (baseURL, fix) => {
    const [message, ...more] = wrong({ baseURL }) ?? []
    expect(message).toContain(fix)
    expect(message).not.toContain('SECRET')
    expect(more).toEqual([])
  })

  it.each([
    [{ models: [{ id: ' m' }] }, 'no spaces'],
    [{ models: [{ id: 'a b' }] }, 'no spaces'],
    [{ models: [{ id: '' }] }, 'no spaces'],
    [{ models: [{ id: 'm' }, { id: 'n' }, { id: 'm' }] }, 'the same id'],
    [{ apiKeyEnv: 'sk-123' }, 'never the key itself'],
    [{ apiKeyEnv: 'HUB KEY' }, 'never the key itself'],
  ])('refuses %j', (fields, reason) => {
    expect(wrong(fields)).toEqual([expect.stringContaining(reason)])
  })

  it('takes numbers, null and nothing as efforts, also under the name off', () => {
    const given = parse('off:\nlow: null\nhigh: 32000\nmax: max')
    const models = [{ id: 'm', reasoningEfforts: given }]
    const [info] = declareModels(schema.parse({ ...base, models }).models)
    const efforts = { off: null, low: null, high: '32000', max: 'max' }
    expect(info).toMatchObject({ efforts })
    expect(info).not.toHaveProperty('reasoningEfforts')
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

describe('what a person sets', () => {
  it.each([
    ['"sk-SECRET"', 'is in quotes'],
    ["'sk-SECRET'", 'is in quotes'],
    ['\u201csk-SECRET\u201d', 'is in quotes'],
    ['Bearer sk-SECRET', '"Bearer"'],
    ['bearer sk-SECRET', '"Bearer"'],
    ['Authorization: Bearer sk-SECRET', 'the name of a header'],
    ['x-api-key: sk-SECRET', 'the name of a header'],
    ['OPENAI_API_KEY=sk-SECRET', 'a name and "="'],
    ['export KEY=sk-SECRET', 'a name and "="'],
    ['sk-SECRET sk-SECRET', 'a space'],
    ['sk-SECRET\nsk-SECRET', 'a line break'],
    ['sk-SECRET\u00e9', 'no header takes'],
  ])('is refused as a key with the reason, and never told: %j', (key, reason) => {
    const thrown = caught(() => access({ HUB_KEY: key }, 'HUB_KEY').apiKey())
    expect(thrown).toMatchObject({ code: 'MODEL_KEY_INVALID' })
    expect(thrown.message).toContain('HUB_KEY')
    expect(thrown.message).toContain(reason)
    expect(thrown.message).not.toContain('SECRET')
  })

  it.each(['sk-proj-a_b=', 'QUJDREVG==', 'key-with-bearer', "a'b"])(
    'is taken as a key: %s',
    (key) => {
      expect(access({ HUB_KEY: key }, 'HUB_KEY').apiKey()).toBe(key)
    },
  )

  it.each([
    ['http://local/v1/messages', 'give http://local.'],
    ['http://local/v1', 'give http://local.'],
    ['local:8080', 'give one with https or http'],
    ['localhost', 'give one like'],
  ])('is refused as a base URL with what would be right: %s', (url, fix) => {
    const thrown = caught(() => access({ HUB_URL: url }).check())
    expect(thrown).toMatchObject({ code: 'MODEL_BASE_URL_INVALID' })
    expect(thrown.message).toContain(fix)
    expect(thrown.message).toContain('HUB_URL')
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
