import { protocols } from '../replay/stage.ts'
import { openThirty, repeatedShare, talkAtLength } from '../replay/thirty-plugins.ts'
import type { Row } from './row.ts'

/** Of the bytes of a talk's requests, how many stood at the beginning of the one before. */
export async function measurePrefix(): Promise<Row[]> {
  const rows: Row[] = []
  for (const api of protocols) {
    await using stage = await openThirty(api)
    await talkAtLength(stage)
    const share = repeatedShare(stage.peer.requests.map(({ text }) => text))
    const limit = { of: 'min', at: 97 } as const
    rows.push({ name: `prefix, 30 plugins: ${api}`, unit: '%', samples: [share * 100], limit })
  }
  return rows
}
