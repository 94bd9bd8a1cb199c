import { estimateMessage, estimateTokens, estimateTool, IMAGE_TOKENS } from '@cordage/core/model'
import { textMessage } from '@cordage/core/message'
import { describe, expect, it } from 'vitest'

describe('estimates', () => {
  it('counts Chinese and Japanese by the character and English by the word', () => {
    const english = estimateTokens('The quick brown fox jumps over the lazy dog.')
    expect(english).toBeGreaterThanOrEqual(8)
    expect(english).toBeLessThanOrEqual(14)
    const chinese = estimateTokens('敏捷的棕色狐狸跳过了那只懒狗')
    expect(chinese).toBeGreaterThanOrEqual(9)
    expect(chinese).toBeLessThanOrEqual(20)
    expect(estimateTokens('')).toBe(0)
  })

  it('stays quick on a long run of one character', { timeout: 10_000 }, () => {
    expect(estimateTokens('a'.repeat(1_000_000))).toBeGreaterThan(1_000)
  })

  it('judges a long text by pieces, near to what its parts come to', () => {
    const words = (text: string, times: number) => `${text} `.repeat(times)
    const parts = [
      words('The quick brown fox jumps over the lazy dog.', 800),
      words('敏捷的棕色狐狸跳过了那只懒狗。', 2_000),
      words('{"path":"/a/b/c.ts","line":1024,"text":"const a = 1"}', 500),
    ]
    const apart = parts.reduce((sum, part) => sum + estimateTokens(part), 0)
    const whole = estimateTokens(words(parts.join(''), 10))
    expect(whole / (10 * apart)).toBeGreaterThan(0.95)
    expect(whole / (10 * apart)).toBeLessThan(1.05)
  })

  it('gives an image a fixed price and a message its parts', () => {
    const blob = { hash: 'h', bytes: 5_000_000, mediaType: 'image/png' }
    const source = { kind: 'user' } as const
    const picture = { id: 'm', role: 'user', content: [{ type: 'image', blob }], source } as const
    const words = textMessage('n', 'user', 'hello there', source)
    const empty = textMessage('o', 'user', '', source)
    expect(estimateMessage(picture)).toBe(estimateMessage(empty) + IMAGE_TOKENS)
    expect(estimateMessage(words)).toBe(estimateMessage(empty) + estimateTokens('hello there'))
  })

  it('counts the schema of a tool', () => {
    const tool = { name: 'read', description: 'Reads a file', parameters: {} }
    const parameters = { type: 'object', properties: { file_path: { type: 'string' } } }
    expect(estimateTool({ ...tool, parameters })).toBeGreaterThan(estimateTool(tool))
  })
})
