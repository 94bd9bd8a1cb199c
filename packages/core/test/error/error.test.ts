import {
  defineErrors,
  describe as describeError,
  errorTables,
  escapeControls,
  escapeInJson,
  HarnessError,
  isHarnessError,
  redact,
  toExitCode,
} from '@cordage/core/error'
import { assert as assertSentence, RowError } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'

const fail = defineErrors('test-errors', {
  TEST_BUSY: { message: 'Session {id} is open elsewhere; close it first.', retryable: true },
  TEST_DENIED: { message: '{path} may not be written.', exit: 77 },
  TEST_PLAIN: { message: 'Nothing to do.' },
})

describe('an error of a table', () => {
  it('has its code, message, values and cause', () => {
    const cause = new Error('EAGAIN')
    const error = fail('TEST_BUSY', { id: 's1', owner: 42 }, { cause, details: { pid: 7 } })
    expect(error).toBeInstanceOf(HarnessError)
    expect(error).toMatchObject({
      code: 'TEST_BUSY',
      message: 'Session s1 is open elsewhere; close it first.',
      retryable: true,
      details: { id: 's1', owner: 42, pid: 7 },
      cause,
    })
    expect(isHarnessError(error, 'TEST_BUSY')).toBe(true)
    expect(isHarnessError(error, 'TEST_PLAIN')).toBe(false)
  })

  it('does not compile without a value that its message needs', () => {
    // @ts-expect-error `path` is missing
    const error = fail('TEST_DENIED', {})
    expect(error.message).toBe('{path} may not be written.')
    // @ts-expect-error there is no such code
    expect(() => fail('TEST_NONE')).toThrow('declares no error code TEST_NONE')
  })

  it('escapes and bounds values, and does not expand them again', () => {
    expect(fail('TEST_DENIED', { path: 'a\u001b[2J\nb\u202e{path}' }).message).toBe(
      'a\\x1b[2J\\x0ab\\x202e{path} may not be written.',
    )
    const long = fail('TEST_DENIED', { path: 'x'.repeat(5000) }).message
    expect(long.length).toBeLessThan(230)
  })

  it('is listed with its table, and a code has one owner', () => {
    expect(Object.keys(errorTables().get('test-errors') ?? {})).toContain('TEST_BUSY')
    expect(() => defineErrors('thief', { TEST_BUSY: { message: 'x' } })).toThrow(
      'error code TEST_BUSY of thief already belongs to test-errors',
    )
  })
})

describe('describing an error', () => {
  it('never shows the text of a cause or of a foreign error', () => {
    const raw = new Error('Authorization: Bearer sk-123')
    for (const error of [
      raw,
      fail('TEST_PLAIN', {}, { cause: raw }),
      new RowError('r', 'x', raw),
    ]) {
      expect(JSON.stringify(describeError(error))).not.toContain('sk-123')
    }
    expect(describeError(raw)).toEqual({
      code: 'INTERNAL',
      message: 'Unexpected Error; the log has details.',
    })
    expect(describeError('sk-123').message).toBe('Unexpected string; the log has details.')
  })

  it('names the row and keeps the code of what the row threw', () => {
    expect(describeError(new RowError('tool-bash', 'x', fail('TEST_PLAIN')))).toEqual({
      code: 'TEST_PLAIN',
      message: 'tool-bash: Nothing to do.',
    })
  })

  it('shows the sentence of an assertion and calls an abort a cancellation', () => {
    try {
      assertSentence(false, 'the log is open')
    } catch (error) {
      expect(describeError(error)).toEqual({ code: 'INTERNAL', message: 'the log is open' })
    }
    expect.assertions(2)
    expect(describeError(new DOMException('x', 'AbortError')).code).toBe('ABORTED')
  })
})

describe('the exit code', () => {
  it('comes from the table, is 75 for retryable errors and 1 otherwise', () => {
    expect(toExitCode(undefined)).toBe(0)
    expect(toExitCode(fail('TEST_DENIED', { path: 'x' }))).toBe(77)
    expect(toExitCode(fail('TEST_BUSY', { id: 's' }))).toBe(75)
    expect(toExitCode(fail('TEST_PLAIN'))).toBe(1)
    expect(toExitCode(new Error('x'))).toBe(1)
    expect(toExitCode(new RowError('r', 'x', fail('TEST_DENIED', { path: 'x' })))).toBe(77)
  })
})

describe('redact', () => {
  it('removes secrets in their plain, URL and JSON forms, the longest first', () => {
    const secrets = ['key/1"23', 'key/1"23-extended', 'abc', '']
    const text = `a key/1"23-extended b ${encodeURIComponent('key/1"23')} c key/1\\"23 d abc`
    expect(redact(text, secrets)).toBe('a [redacted] b [redacted] c [redacted] d abc')
  })
})

describe('JSON for whoever looks at it', () => {
  it('holds no character that a text may not hold, and says the same', () => {
    const all = String.fromCharCode(...Array.from({ length: 0x2100 }, (_, code) => code))
    const json = escapeInJson(JSON.stringify(all))
    expect(escapeControls(json)).toBe(json)
    expect(JSON.parse(json)).toBe(all)
  })
})
