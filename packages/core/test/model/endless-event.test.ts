import { streamAnswer } from '@cordage/core/model'
import { expect, test } from 'vitest'

const piece = new TextEncoder().encode('x'.repeat(1_000_000))

test.each([
  ['one line', piece],
  ['lines of data', new TextEncoder().encode(`data: ${'x'.repeat(1_000_000)}\n`)],
])('an event of %s that never ends fails, and is not kept', async (_, bytes) => {
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pieces += 1
      if (pieces > 100) controller.error(new Error('read on and on'))
      else controller.enqueue(pieces === 1 ? new TextEncoder().encode('data: {"x": "') : bytes)
    },
  })
  const reader = { read: () => [], end: () => [] }
  const { signal } = new AbortController()
  const route = { model: 'hub/m', url: 'http://hub/v1/x' }
  let left: AbortSignal | undefined
  const open = async (both: AbortSignal) => {
    left = both
    return new Response(body)
  }
  const reading = (async () => {
    for await (const event of streamAnswer(route, open, reader, signal)) expect(event).toBe(0)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'MALFORMED_RESPONSE' })
  expect(pieces).toBeLessThan(40)
  expect(left?.aborted).toBe(true)
})
