import { isHarnessError, toExitCode } from '@cordage/core/error'
import { createRoot, definePlugin, mount, own } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import credentials from '../../src/credential/index.ts'

async function open(env: Record<string, string | undefined>) {
  const root = createRoot()
  const host = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env, home: '/h', cwd: '/c', version: '0' }),
  })
  await mount(root, { id: 'host', plugin: host, config: {}, timeoutMs: 1000 }).settled()
  const row = mount(root, {
    id: 'core-credential',
    plugin: credentials,
    config: {},
    timeoutMs: 1000,
  })
  await row.settled()
  return root.credentials
}

describe('credentials', () => {
  it('come from the environment, and an empty one is none', async () => {
    const service = await open({ A_API_KEY: ' sk-12345678 ', EMPTY: '  ', GONE: undefined })
    expect(service.reveal('A_API_KEY')).toBe('sk-12345678')
    expect(['A_API_KEY', 'EMPTY', 'GONE', 'constructor'].map((name) => service.has(name))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('that are missing say how to give them, and end a process with 78', async () => {
    const service = await open({})
    try {
      service.reveal('DEEPSEEK_API_KEY')
      expect.unreachable()
    } catch (error) {
      expect(isHarnessError(error, 'CREDENTIAL_MISSING')).toBe(true)
      expect(String(error)).toContain('export DEEPSEEK_API_KEY=')
      expect(toExitCode(error)).toBe(78)
    }
  })

  it('are hidden in texts: by name, once asked for, and URL-encoded', async () => {
    const service = await open({
      X_API_KEY: 'key/with+signs==',
      GITHUB_TOKEN: 'ghp_abcdefgh',
      DB_PASSWORD: 'correct horse',
      MY_THING: 'only-when-asked',
      OPENAI_BASE_URL: 'http://localhost:11434',
      SHORT_TOKEN: 'abc',
    })
    const text = [
      'key/with+signs== key%2Fwith%2Bsigns%3D%3D ghp_abcdefgh "correct horse" abc',
      'only-when-asked http://localhost:11434',
    ]
    const hidden = service.redact(text.join(' '))
    expect(hidden).toBe(
      '[redacted] [redacted] [redacted] "[redacted]" abc only-when-asked http://localhost:11434',
    )
    service.has('MY_THING')
    service.has('OPENAI_BASE_URL')
    expect(service.redact(text[1] ?? '')).toBe('[redacted] http://localhost:11434')
  })
})
