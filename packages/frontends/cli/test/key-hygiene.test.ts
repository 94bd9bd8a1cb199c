import { describe, expect, it } from 'vitest'
import { keyFault } from '../src/credential/key-hygiene.ts'

const key = 'sk-0123456789abcdefWXYZ'

describe('what is given as a key', () => {
  it.each([
    ['quotes', `"${key}"`, /quotes/],
    ['a quote at the end', `${key}'`, /quotes/],
    ['curly quotes', `“${key}”`, /quotes/],
    ['an assignment', `DEEPSEEK_API_KEY=${key}`, /NAME=/],
    ['a line of a shell', `export DEEPSEEK_API_KEY=${key}`, /export/],
    ['a header', `Bearer ${key}`, /Bearer/],
    ['another header', `x-api-key: ${key}`, /Bearer/],
    ['two lines', `${key}\n${key}`, /several lines/],
    ['a space', `sk-0123 456789abcdef`, /white space/],
    ['a character without a width', `${key}\u200b`, /characters that no key has/],
    ['letters of another alphabet', `sk-кey0123456789`, /characters that no key has/],
    ['an address', 'https://api.deepseek.com', /address/],
    ['nothing', '', /empty/],
  ])('is refused for %s, without being repeated', (_, value, reason) => {
    expect(keyFault(value)).toMatch(reason)
    expect(keyFault(value)).not.toContain('0123')
  })

  it.each([key, 'AbC+/0123456789==', 'abcdef0123456789', 'gho_16C7e42F292c6912', 'a=='])(
    'is taken as it is: %s',
    (value) => expect(keyFault(value)).toBeUndefined(),
  )
})
