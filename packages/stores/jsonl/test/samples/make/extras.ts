import { definePlugin } from '@cordage/core/kernel'
import { turnStopping } from '@cordage/core/loop'
import { textMessage, type Message } from '@cordage/core/message'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  contextMessage,
  sessionTitle,
  type Session,
} from '@cordage/core/session'

/** Writes at the end of each turn what no ordinary run would, so that a sample holds it too. */
export default definePlugin({
  name: 'sample-extras',
  apply(ctx) {
    turnStopping.use(ctx, async (input, next) => {
      if (input.turn === 1) await addExtras(input.agent.session)
      return next(input)
    })
  },
})

const source = { kind: 'plugin', row: 'sample-extras', form: 'notice' } as const
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

async function addExtras(session: Session): Promise<void> {
  const hash = await session.putBlob(pixel)
  const picture: Message = {
    id: 'sample-picture',
    role: 'user',
    content: [
      { type: 'text', text: 'A picture: 你好 👩‍👩‍👧‍👦 \ud800' },
      { type: 'image', blob: { hash, mediaType: 'image/png', bytes: pixel.length } },
    ],
    source,
  }
  await session.append([
    contextMessage({ id: 'sample', row: 'sample-extras', message: picture }),
    { type: '@somebody/plugin/strange', v: 7, data: { nested: { kept: ['as', null, 1.5] } } },
    { type: 'turn/paused', v: 1, data: 'of a later version of core' },
  ])
  const title = sessionTitle({ title: 'A sample', by: 'user' })
  await session.append([{ ...title, data: { ...title.data, later: { member: true } } }])
  const results = session.surface.filter(({ message }) => message.role === 'tool')
  const [first, last] = [results[0], results[1]]
  if (!first || !last) return
  const asked = session.surface[session.surface.indexOf(first) - 1]
  const message = textMessage('sample-summary', 'user', 'What was read so far.', source)
  await session.append([
    compactionStart({ id: 'sample-1' }),
    compactionSummary({ id: 'sample-1', range: { from: asked?.seq ?? 0, to: first.seq }, message }),
    compactionPrune({ id: 'sample-1', replaced: [{ seq: last.seq, text: '(cut)' }] }),
    compactionEnd({ id: 'sample-1' }),
    compactionStart({ id: 'sample-2' }),
    compactionEnd({ id: 'sample-2', error: { code: 'INTERRUPTED', message: 'It was stopped.' } }),
  ])
}
