import { expect, it } from 'vitest'
import { openStage, protocols } from './stage.ts'

/** Everything of a body but the end of its list of messages, which is the last thing in it. */
const openEnd = (text: string): string => text.replace(/\]\}$/, '')

it.each(protocols)(
  'a forked child of %s asks with the bytes its parent began with',
  async (api) => {
    await using stage = await openStage(api)
    const list = { calls: [{ id: 'call_1', name: 'list', arguments: ['{"path":"."}'] }] }
    await stage.turn('Look', { reasoning: ['Hm.'], replay: 'c2ln', ...list }, { text: ['Seen.'] })
    const task = JSON.stringify({ description: 'checks', prompt: 'Check what you saw.' })
    const outcome = await stage.turn(
      'Have it checked',
      { calls: [{ id: 'call_2', name: 'subagent_fork', arguments: [task] }] },
      { text: ['It is fine.'] },
      { text: ['Checked.'] },
    )
    expect(outcome.reason).toBe('completed')
    const [, second = '', third = '', child = '', last = ''] = stage.peer.requests.map(
      ({ text }) => text,
    )
    expect(child).toContain('Check what you saw.')
    expect(child).not.toContain('Have it checked')
    expect(last).toContain('It is fine.')
    // With the answer that ended the turn before.
    const begin = third.slice(0, third.indexOf('Seen.') + 'Seen.'.length)
    expect(begin.startsWith(`${openEnd(second)},`)).toBe(true)
    expect(child.startsWith(begin)).toBe(true)
  },
)
