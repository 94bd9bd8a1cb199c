import { toolCallsOf, type Message } from '@cordage/core/message'
import type { SurfaceEntry } from '@cordage/core/session'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { SurfaceIndex } from '../../src/loop/surface-index.ts'

const entry = fc
  .record({
    seq: fc.nat(),
    role: fc.constantFrom<Message['role']>('system', 'user', 'assistant'),
    contextId: fc.constantFrom(undefined, 'date', 'directory'),
    call: fc.constantFrom(undefined, 'c1', 'c2'),
  })
  .map(({ seq, role, contextId, call }): SurfaceEntry => {
    const part = { type: 'tool-call' as const, id: call ?? '', name: 'x', arguments: '' }
    const content = call === undefined ? [] : [part]
    const message: Message = { id: `${seq}`, role, content, source: { kind: 'user' } }
    return { seq, message, ...(contextId === undefined ? {} : { contextId }) }
  })

it('knows what a search would find, whatever was added, replaced or left out', () => {
  const change = fc.record({ at: fc.nat(20), left: fc.nat(3), added: fc.array(entry) })
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const index = new SurfaceIndex()
      let surface: readonly SurfaceEntry[] = []
      for (const { at, left, added } of changes) {
        surface = surface.toSpliced(at, left, ...added)
        const { systems, contexts, calls } = index.at(surface)
        expect(systems).toEqual(surface.filter(({ message }) => message.role === 'system'))
        for (const id of ['date', 'directory']) {
          expect(contexts.get(id)).toBe(surface.findLast((one) => one.contextId === id))
        }
        const ids = surface.flatMap(({ message }) => toolCallsOf(message).map((call) => call.id))
        expect(calls).toEqual(new Set(ids))
      }
    }),
  )
})
