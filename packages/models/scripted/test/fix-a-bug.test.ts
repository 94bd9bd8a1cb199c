import { type Message, textOf, toolCallsOf } from '@cordage/core/message'
import { say } from '@cordage/testkit'
import { describe, expect, it } from 'vitest'
import { play, result } from './play.ts'

const names = async (...messages: Message[]) => {
  const { content } = await play('fix-a-bug', undefined, say.user('fix it'), ...messages)
  return { content, called: toolCallsOf({ content }).map(({ name }) => name) }
}
describe('fix-a-bug', () => {
  const buggy = 'return sum - sum * discount / 10'
  const fixed = 'return sum - sum * discount / 100'
  const steps: { called: string[]; results: Message[] }[] = [
    { called: ['list', 'read', 'read'], results: [result('src test', 'list')] },
    { called: ['bash'], results: [result('pass 2\nfail 1')] },
    { called: ['read'], results: [result(buggy, 'read')] },
    { called: ['edit'], results: [result('edited', 'edit')] },
    { called: ['bash'], results: [result('pass 3\nfail 0')] },
    { called: [], results: [] },
  ]

  const history = async (length: number) => {
    const messages: Message[] = []
    for (const step of steps.slice(0, length)) {
      const { content, called } = await names(...messages)
      expect(called).toEqual(step.called)
      messages.push(say.assistant('scripted', 'fix-a-bug', content), ...step.results)
    }
    return messages
  }

  it('looks, tests, reads, edits, tests and tells', async () => {
    const { content, called } = await names(...(await history(5)))
    expect(called).toEqual([])
    expect(textOf({ content })).toContain('all tests pass')
  })

  it('looks again when the outcome of the edit is unknown, and edits only if it must', async () => {
    const before = await history(3)
    const { content } = await names(...before)
    const edit = say.assistant('scripted', 'fix-a-bug', content)
    const unknown = [...before, edit, result('the outcome is unknown', 'edit', true)]
    const look = await names(...unknown)
    expect(look.called).toEqual(['read'])
    const looked = [...unknown, say.assistant('scripted', 'fix-a-bug', look.content)]
    expect((await names(...looked, result(fixed, 'read'))).called).toEqual(['bash'])
    expect((await names(...looked, result(buggy, 'read'))).called).toEqual(['edit'])
  })

  it('does not claim success before it sees the tests pass', async () => {
    const before = await history(4)
    const { content } = await names(...before)
    const test = say.assistant('scripted', 'fix-a-bug', content)
    const lost = [...before, test, result('the outcome is unknown', 'bash', true)]
    const look = await names(...lost)
    expect(look.called).toEqual(['read'])
    const looked = [...lost, say.assistant('scripted', 'fix-a-bug', look.content)]
    expect((await names(...looked, result(fixed, 'read'))).called).toEqual(['bash'])
  })
})
