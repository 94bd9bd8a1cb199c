import { describe, expect, it } from 'vitest'
import { throttle } from '../src/throttle.ts'

describe('throttle', () => {
  it('passes on what people can read, and marks where it left something out', async () => {
    const shown: string[] = []
    const show = throttle((text) => shown.push(text))
    show('start\n')
    for (let count = 0; count < 1_000; count += 1) show('x'.repeat(10_000))
    await new Promise((resolve) => setTimeout(resolve, 50))
    show('end\n')
    expect(shown[0]).toBe('start\n')
    expect(shown.at(-1)).toBe('…\nend\n')
    expect(shown.join('').length).toBeLessThan(200_000)
  })
})
