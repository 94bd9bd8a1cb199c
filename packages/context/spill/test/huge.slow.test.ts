import { handleIn } from '@cordage/core/tool'
import { expect, it } from 'vitest'
import { openTalk } from './talk.ts'

it('keeps a result of 32 MB whole, and reads its end', async () => {
  await using talk = await openTalk()
  const row = 'all of these bytes are kept ........................ 64 bytes..\n'
  const text = row.repeat(2 ** 19)
  const handle = handleIn(await talk.speak(text)) ?? ''
  const page = await talk.page(handle, { offset: text.length - row.length })
  expect(page).toEqual({ ...page, bytes: text.length, end: text.length, text: row })
})
