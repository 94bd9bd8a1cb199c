import type { Command } from '../command/index.ts'
import { queueChange, queueRows } from './queue.ts'

/** Shows and changes what waits for an agent, and starts nothing. */
export const queueCommand: Command = {
  name: 'queue',
  description: 'messages that wait: list, edit 2 words, move 3 1, remove 1, release 1',
  async run(request, { session }) {
    const change = queueChange(session.inbox, request)
    if (change) await session.append([change])
    const lines = queueRows(session.inbox).map((row) => row.join('  '))
    return { text: lines.join('\n') || 'Nothing waits.' }
  },
}
