import { isHarnessError, toExitCode } from '@cordage/core/error'
import { createRoot, definePlugin, mount, own } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import credentials from '../../src/credential/index.ts'

async function open(
  env: Record<string, string | undefined>,
  credentialsOfHost?: () => Record<string, string>,
) {
  const root = createRoot()
  const kept = credentialsOfHost === undefined ? {} : { credentials: credentialsOfHost }
  const host = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env, home: '/h', cwd: '/c', version: '0', ...kept }),
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

  it('are hidden as they are used, when they were kept with white space around them', async () => {
    const service = await open({}, () => ({ A_API_KEY: 'sk-12345678\n' }))
    expect(service.reveal('A_API_KEY')).toBe('sk-12345678')
    expect(service.redact('key sk-12345678.')).toBe('key [redacted].')
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

  it('that the host keeps come after the environment, as they are at each use', async () => {
    const kept: Record<string, string> = { A_API_KEY: 'kept-first', B_API_KEY: 'kept-second' }
    const service = await open({ A_API_KEY: 'of-the-environment', B_API_KEY: ' ' }, () => kept)
    expect(service.reveal('A_API_KEY')).toBe('of-the-environment')
    expect(service.reveal('B_API_KEY')).toBe('kept-second')
    kept['B_API_KEY'] = 'kept-later'
    expect(service.reveal('B_API_KEY')).toBe('kept-later')
    expect(service.redact('kept-first kept-later')).toBe('[redacted] [redacted]')
    expect(service.has('constructor')).toBe(false)
    delete kept['B_API_KEY']
    expect(service.has('B_API_KEY')).toBe(false)
  })

  it('that the host refuses to read stop only who needs one of them', async () => {
    const refusal = new TypeError('kept in the open')
    const service = await open({ A_API_KEY: 'of-the-environment' }, () => {
      throw refusal
    })
    expect(service.reveal('A_API_KEY')).toBe('of-the-environment')
    expect(() => service.has('B_API_KEY')).toThrow(refusal)
    expect(service.redact('of-the-environment')).toBe('[redacted]')
  })
})
