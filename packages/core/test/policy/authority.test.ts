import { intersect, modes, type Answer, type Authority, type Effect } from '@cordage/core/policy'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actor, openPolicy, type PolicyFixture } from './broker-fixture.ts'

let fixture: PolicyFixture
beforeAll(async () => {
  fixture = await openPolicy()
})
afterAll(() => fixture.close())

const strictness: Record<Answer, number> = { allow: 0, ask: 1, deny: 2 }
const place = fc.constantFrom('/', '/a', '/a/b', '/a/b/c', '/ab', '/a/../ab', '/b', 'relative')
const host = fc.constantFrom('x.org', 'X.ORG', 'y.org')
const authority: fc.Arbitrary<Authority> = fc
  .record({
    mode: fc.constantFrom(...modes),
    writableRoots: fc.array(place, { maxLength: 3 }),
    netHosts: fc.option(fc.array(host, { maxLength: 2 }), { nil: undefined }),
  })
  .map(({ netHosts, ...rest }) => (netHosts ? { ...rest, netHosts } : rest))
const effect: fc.Arbitrary<Effect> = fc.oneof(
  fc.record({ kind: fc.constant('fs:write' as const), path: place.map((dir) => `${dir}/f`) }),
  fc.record({ kind: fc.constant('net' as const), host, port: fc.constant(443) }),
  fc.constant<Effect>({ kind: 'process', argv: ['ls'], cwd: '/a' }),
  fc.constant<Effect>({ kind: 'secret', name: 'S' }),
)

const strict = (who: Authority, what: Effect) => {
  return strictness[fixture.root.policy.decide(what, actor(who)).answer]
}

describe('the intersection of two authorities', () => {
  it('never answers less strictly than either', () => {
    const holds = fc.property(authority, authority, effect, (a, b, what) => {
      const both = strict(intersect(a, b), what)
      return both >= strict(a, what) && both >= strict(b, what)
    })
    fc.assert(holds)
  })

  it('keeps what both may write, however deep', () => {
    const parent: Authority = { mode: 'workspace-write', writableRoots: ['/a', '/x/y'] }
    const child: Authority = { mode: 'workspace-write', writableRoots: ['/a/b', '/x', '/z'] }
    expect(intersect(parent, child).writableRoots).toEqual(['/x/y', '/a/b'])
  })

  it('gives a full-access child of a narrower parent exactly what the parent has', () => {
    const parent: Authority = { mode: 'workspace-write', writableRoots: ['/a'], netHosts: ['x'] }
    expect(intersect(parent, { mode: 'full-access', writableRoots: [] })).toEqual(parent)
  })
})
