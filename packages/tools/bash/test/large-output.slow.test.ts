import { openToolBench } from '@cordage/testkit'
import { expect, it } from 'vitest'
import bash from '../src/index.ts'
import type { BashValue } from '../src/outcome.ts'

it('keeps start and end of 100 MB, the rest in a blob, in bounded memory', async () => {
  await using bench = await openToolBench({ rows: { bash }, env: { LANG: 'C.UTF-8' } })
  const before = process.memoryUsage().rss
  const command = 'echo first; yes 0123456789abcdef | head -c 100000000; echo last'
  const answer = await bench.call('bash', { command })
  const { blob, omittedChars, exit } = answer.value as BashValue
  expect(exit.code).toBe(0)
  expect(answer.text.length).toBeLessThan(30_000)
  expect(answer.text).toMatch(/^exit code 0; output too long: \d+ characters left out.*\nfirst\n/)
  expect(answer.text).toMatch(/last\n$/)
  expect(omittedChars).toBe(100_000_011 - 29_000)
  expect(blob).toMatchObject({ bytes: 100_000_011, complete: false })
  const bytes = await bench.session.getBlob(blob?.hash ?? '')
  expect(bytes.length).toBe(64 * 1024 * 1024)
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(400)
})
