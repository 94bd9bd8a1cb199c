import { expect, test } from 'vitest'
import {
  compactionEnd,
  compactionPrune,
  compactionStart,
  compactionSummary,
  contextMessage,
  SessionFold,
  systemMessage,
  type NewFact,
} from '@cordage/core/session'
import { assistant, pictureOf, result, said, systemText, user } from './messages.ts'
import { factsOf, foldOf } from './random-log.ts'

const picture = (facts: NewFact[]) => pictureOf(foldOf(factsOf(facts)).surface)
const front = (text: string) => systemMessage({ message: systemText(text), placement: 'front' })
const inHistory = (text: string) => {
  return systemMessage({ message: systemText(text), placement: 'in-history' })
}
const context = (id: string, text: string) => contextMessage({ id, row: 'r', message: said(text) })
const summary = (id: string, from: number, to: number, text = 'sum') => {
  return compactionSummary({ id, range: { from, to }, message: said(text) })
}
const begin = (id: string) => compactionStart({ id })
const end = (id: string) => compactionEnd({ id })

test('a system prompt in front replaces the one before it, wherever that stood', () => {
  expect(picture([front('one'), user('hi'), front('two')])).toEqual(['two', 'hi'])
  expect(picture([user('hi'), inHistory('one'), user('ho'), front('two')])).toEqual([
    'two',
    'hi',
    'ho',
  ])
})

test('a system prompt in history stands where it came, and the prefix before it stays', () => {
  expect(picture([front('one'), user('hi'), inHistory('two'), user('ho')])).toEqual([
    'one',
    'hi',
    'two',
    'ho',
  ])
})

test('an empty system prompt clears the effective one', () => {
  expect(picture([front('one'), user('hi'), front('')])).toEqual(['hi'])
  expect(picture([front('one'), user('hi'), inHistory('')])).toEqual(['hi'])
})

test('earlier snapshots of a context stay, as what the model has seen', () => {
  const facts = [context('time', 't1'), user('hi'), context('time', 't2')]
  expect(picture(facts)).toEqual(['t1', 'hi', 't2'])
  const last = foldOf(factsOf(facts)).surface.findLast((entry) => entry.contextId === 'time')
  expect(last?.seq).toBe(2)
})

test('results stand in the order of their calls, before what was said meanwhile', () => {
  const facts = [
    assistant('a', ['x', 'y', 'z']),
    result('z'),
    user('stop'),
    result('x'),
    result('y'),
  ]
  expect(picture(facts)).toEqual(['a', 'r-x', 'r-y', 'r-z', 'stop'])
})

test('calls that share an id each get their own result', () => {
  const facts = [assistant('a', ['x', 'x']), result('x', 'first'), result('x', 'second')]
  expect(picture(facts)).toEqual(['a', 'first', 'second'])
})

test('an id that an earlier message used belongs to the last message that asks', () => {
  const facts = [assistant('a', ['x']), result('x', '1'), assistant('b', ['x']), result('x', '2')]
  expect(picture(facts)).toEqual(['a', '1', 'b', '2'])
})

test('a late or second result is no part of the surface', () => {
  expect(picture([user('hi'), result('x')])).toEqual(['hi'])
  expect(picture([assistant('a', ['x']), result('x', 'one'), result('x', 'late')])).toEqual([
    'a',
    'one',
  ])
})

test('an assistant message without content is no part of the surface', () => {
  expect(picture([user('hi'), assistant(''), user('ho')])).toEqual(['hi', 'ho'])
})

test('a compaction acts only when it has ended without an error', () => {
  const open = [user('a'), user('b'), user('c'), begin('k'), summary('k', 0, 1)]
  expect(picture(open)).toEqual(['a', 'b', 'c'])
  expect(picture([...open, user('d')])).toEqual(['a', 'b', 'c', 'd'])
  expect(picture([...open, user('d'), end('k')])).toEqual(['sum', 'c', 'd'])
  expect(picture([...open, end('other')])).toEqual(['a', 'b', 'c'])
  const failed = compactionEnd({ id: 'k', error: { code: 'X', message: 'no' } })
  expect(picture([...open, failed, end('k')])).toEqual(['a', 'b', 'c'])
})

test('a summary without a begun compaction changes nothing', () => {
  expect(picture([user('a'), user('b'), summary('k', 0, 1), end('k')])).toEqual(['a', 'b'])
})

test('a later summary takes in an earlier one, though its seq is higher than what follows it', () => {
  const facts = [
    user('a'),
    user('b'),
    user('c'),
    user('d'),
    begin('k'),
    summary('k', 0, 1),
    end('k'),
  ]
  expect(picture(facts)).toEqual(['sum', 'c', 'd'])
  expect(picture([...facts, begin('l'), summary('l', 5, 2, 'sum2'), end('l')])).toEqual([
    'sum2',
    'd',
  ])
})

test('a summary leaves the system prompt in place', () => {
  const tail = [begin('k'), summary('k', 0, 2), end('k')]
  expect(picture([user('a'), inHistory('sys'), user('b'), ...tail])).toEqual(['sum', 'sys'])
})

test('a range that is not on the surface shadows nothing', () => {
  for (const [from, to] of [
    [0, 99],
    [99, 1],
    [1, 0],
  ] as const) {
    const facts = [user('a'), user('b'), begin('k'), summary('k', from, to), end('k')]
    expect(picture(facts)).toEqual(['a', 'b'])
  }
})

test('a context that a summary took is remembered until its contributor gives it again', () => {
  const facts = [context('cwd', '/a'), context('time', 't1'), user('hi'), context('time', 't2')]
  const compacted = [...facts, begin('k'), summary('k', 0, 2), end('k')]
  const fold = foldOf(factsOf(compacted))
  expect(fold.shadowedContexts).toEqual(['cwd'])
  expect(new SessionFold({ snapshot: fold.snapshot() }).shadowedContexts).toEqual(['cwd'])
  expect(foldOf(factsOf([...compacted, context('cwd', '/a')])).shadowedContexts).toEqual([])
})

test('a context is remembered when its last snapshot is gone and an older one stands', () => {
  const facts = [context('time', 't1'), user('hi'), context('time', 't2'), user('ho')]
  const compacted = [...facts, begin('k'), summary('k', 1, 2), end('k')]
  expect(foldOf(factsOf(compacted)).shadowedContexts).toEqual(['time'])
})

test('pruning replaces what single results say and nothing else', () => {
  const facts = [assistant('a', ['x', 'y']), result('x'), result('y'), begin('k')]
  const prune = compactionPrune({
    id: 'k',
    replaced: [
      { seq: 1, text: 'cut' },
      { seq: 0, text: 'no' },
    ],
  })
  const fold = foldOf(factsOf([...facts, prune, end('k')]))
  expect(pictureOf(fold.surface)).toEqual(['a', 'cut', 'r-y'])
  expect(fold.surface[1]?.message).toMatchObject({
    id: 'm-r-x',
    content: [{ type: 'tool-result', callId: 'x', isError: false }],
  })
})

test('one frozen surface is given to all until it changes', () => {
  const fold = foldOf(factsOf([user('a')]))
  const before = fold.surface
  expect(fold.surface).toBe(before)
  expect(Object.isFrozen(before)).toBe(true)
  fold.add({ ...user('b'), seq: 1, time: 0 })
  expect(pictureOf(before)).toEqual(['a'])
  expect(pictureOf(fold.surface)).toEqual(['a', 'b'])
})

test('a record of a later version and an unknown type are kept without being guessed at', () => {
  const facts = factsOf([
    user('a'),
    { type: 'user/message', v: 7, data: 1 },
    { type: 'x/y', v: 1, data: 2 },
  ])
  const fold = foldOf(facts)
  expect(pictureOf(fold.surface)).toEqual(['a'])
  expect(fold.snapshot().states.unknown).toEqual(facts.slice(1))
})
