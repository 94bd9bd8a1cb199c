import { estimateTokens } from '@cordage/core/model'
import * as fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const folder = new URL('corpus/', import.meta.url)
const bytes = Buffer.concat(
  Array.from({ length: 64 }, (_, at) => createHash('sha256').update(`${at}`).digest()),
)

/** Prose in sixteen languages, code, data and logs, and what has to be made: encoded bytes. */
const corpus: Record<string, string> = {
  ...Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
  ),
  base64: bytes.toString('base64'),
  'base64 in lines': bytes.toString('base64').replace(/.{76}/g, '$&\n'),
  base64url: bytes.toString('base64url'),
  hexadecimal: bytes.toString('hex'),
  numbers: [...bytes.subarray(0, 400)].map((byte, at) => byte * at * 7.31).join(', '),
  uuids: bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/g, '$1-$2-$3-$4-$5\n'),
}
const marks = [...'azA09=-_#/. \n\té好あ한😀ộжعहไ']

/** By pieces, as tokenizers take a quadratic time for long runs; a border costs a token at most. */
function countExactly(text: string): number {
  const pieces = text.match(/[^]{1,2000}/gu) ?? []
  return pieces.reduce((sum, piece) => sum + countTokens(piece), 0)
}

describe('estimated tokens', () => {
  it.each(Object.keys(corpus))('of %s are within a quarter of the true count', (name) => {
    const text = corpus[name] ?? ''
    const share = estimateTokens(text) / countExactly(text)
    expect(share).toBeGreaterThan(0.75)
    expect(share).toBeLessThan(1.25)
  })

  it('of the whole corpus are within a tenth of the true count', () => {
    const whole = Object.values(corpus).join('\n')
    const share = estimateTokens(whole) / countExactly(whole)
    expect(share).toBeGreaterThan(0.9)
    expect(share).toBeLessThan(1.1)
  })

  it.each(marks)('of a long run of %j are not too few', (mark) => {
    const text = mark.repeat(4_000)
    expect(estimateTokens(text) / countExactly(text)).toBeGreaterThan(0.75)
  })

  it('are never below three quarters of the true count, whatever is mixed', () => {
    const texts = Object.values(corpus)
    const slice = fc
      .tuple(fc.constantFrom(...texts), fc.nat({ max: 1_000 }), fc.integer({ min: 100, max: 600 }))
      .map(([text, from, length]) => text.slice(from % text.length).slice(0, length))
    const run = fc
      .tuple(fc.constantFrom(...marks), fc.integer({ min: 20, max: 300 }))
      .map(([mark, times]) => mark.repeat(times))
    const mixture = fc.array(
      fc.oneof({ weight: 5, arbitrary: slice }, { weight: 1, arbitrary: run }),
      {
        minLength: 2,
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(mixture, fc.constantFrom('', '\n', ' '), (parts, between) => {
        const text = parts.join(between).toWellFormed()
        expect(estimateTokens(text) / countExactly(text)).toBeGreaterThan(0.75)
      }),
    )
  })

  it('of a text that is judged by pieces are within a quarter, prose and data mixed', () => {
    const text = Object.values(corpus).join('\n').repeat(20)
    const share = estimateTokens(text) / (20 * countExactly(Object.values(corpus).join('\n')))
    expect(share).toBeGreaterThan(0.75)
    expect(share).toBeLessThan(1.25)
  })
})
