import { definePlugin, footprint, mount, openScope } from '@cordage/core/kernel'
import type { Answer, Decision, Effect } from '@cordage/core/policy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { actor, home, openPolicy, read, run, write, type PolicyFixture } from './broker-fixture.ts'

let fixture: PolicyFixture
beforeEach(async () => {
  fixture = await openPolicy()
})
afterEach(() => fixture.close())

const says = (id: string, answer: Answer): { id: string; decide: () => Decision } => {
  return { id, decide: () => ({ answer, rule: id, reason: `because of ${id}` }) }
}
const fails = () => {
  throw new Error('secret detail')
}
const outside = write('/elsewhere/a')

describe('rules', () => {
  it('lift an ask of the mode', () => {
    const { policy } = fixture.root
    policy.rule(fixture.root, says('yes', 'allow'))
    expect(policy.decide(outside, actor())).toMatchObject({ answer: 'allow', rule: 'yes' })
  })

  it('lift neither a denial, a protected path nor another rule', () => {
    const { policy } = fixture.root
    policy.rule(fixture.root, says('yes', 'allow'))
    const answer = (effect: Effect, mode?: 'read-only') => {
      return policy.decide(effect, actor(mode ? { mode } : {})).answer
    }
    expect(answer(outside, 'read-only')).toBe('deny')
    expect(answer(write('/w/app/AGENTS.md'))).toBe('ask')
    expect(answer(read(`${home}/x`))).toBe('deny')
    policy.rule(fixture.root, says('maybe', 'ask'))
    expect(answer(outside)).toBe('ask')
    policy.rule(fixture.root, says('no', 'deny'))
    expect(answer(read('/w/app/a'))).toBe('deny')
  })

  it('deny when they throw or answer nonsense, and say which row', async () => {
    const { root, logged } = fixture
    const broken = definePlugin({
      name: 'broken',
      inject: ['policy'],
      apply: (ctx) => {
        ctx.policy.rule(ctx, { id: 'bad', decide: fails })
      },
    })
    const row = mount(root, { id: 'policy-broken', plugin: broken, config: {}, timeoutMs: 1000 })
    await row.settled()
    const decision = root.policy.decide(read('/w/app/a'), actor())
    expect(decision).toMatchObject({ answer: 'deny', rule: 'bad' })
    expect(decision.reason).toContain('policy-broken')
    expect(decision.reason).not.toContain('secret detail')
    expect(logged.join()).toContain('policy-broken')
    await row.dispose()
    expect(root.policy.decide(read('/w/app/a'), actor()).answer).toBe('allow')

    const odd = { id: 'odd', decide: () => JSON.parse('{"answer":"yes"}') as Decision }
    root.policy.rule(root, odd)
    expect(root.policy.decide(read('/w/app/a'), actor()).answer).toBe('deny')
  })

  it('of a scope hold in it and below, and no inner rule of the same id replaces them', async () => {
    const { root } = fixture
    const before = footprint(root)
    const parent = openScope(root, 'parent')
    const child = openScope(parent.ctx, 'child')
    root.policy.rule(parent.ctx, says('limit', 'deny'))
    root.policy.rule(child.ctx, says('limit', 'allow'))
    const answer = (more: object) => root.policy.decide(run('ls'), actor({}, more)).answer
    expect(answer({ scope: child })).toBe('deny')
    expect(answer({ scope: parent })).toBe('deny')
    expect(answer({})).toBe('allow')
    await parent.close()
    expect(answer({ scope: child })).toBe('allow')
    expect(footprint(root)).toEqual(before)
  })
})

const decide = (effect: Effect, more: object = {}) => {
  return fixture.root.policy.decide(effect, actor({}, more)).answer
}
const decideEach = (names: readonly string[], who: object) => {
  return names.map((name) => decide(write(`/e/${name}`), who))
}

describe('grants', () => {
  it('reach as far as their scope says', () => {
    const { policy } = fixture.root
    const here = { project: '/w/app' }
    policy.grant(write('/e/session'), actor({}, here), 'session')
    policy.grant(write('/e/project'), actor({}, here), 'project')
    policy.grant(write('/e/user'), actor({}, here), 'user')
    const other = { sessionId: 's2', project: '/w/app' }
    const elsewhere = { sessionId: 's2', project: '/w/b' }
    const names = ['session', 'project', 'user']
    expect(decideEach(names, here)).toEqual(['allow', 'allow', 'allow'])
    expect(decideEach(names, other)).toEqual(['ask', 'allow', 'allow'])
    expect(decideEach(names, elsewhere)).toEqual(['ask', 'ask', 'allow'])
  })

  it('for a project grant nothing to an actor without one', () => {
    fixture.root.policy.grant(outside, actor(), 'project')
    expect(decide(outside)).toBe('ask')
    expect(decide(outside, { project: '/w/app' })).toBe('ask')
  })

  it('cover exactly that path, whatever its spelling, and nothing near it', () => {
    fixture.root.policy.grant(write('/e/dir/../a'), actor(), 'session')
    expect(decide(write('/e//a'))).toBe('allow')
    for (const path of ['/e', '/e/a/b', '/e/A', '/e/ab']) expect(decide(write(path))).toBe('ask')
    expect(decide(read('/e/a'))).toBe('allow')
  })

  it('cover exactly that command in that directory', () => {
    const ask = { id: 'ask', decide: () => ({ answer: 'ask', rule: 'ask', reason: 'r' }) as const }
    fixture.root.policy.rule(fixture.root, ask)
    fixture.root.policy.grant(run('make'), actor(), 'session')
    expect(decide(run('make'))).toBe('allow')
    expect(decide(run('make', '/w'))).toBe('ask')
    expect(decide(run('make; rm -rf /'))).toBe('ask')
    expect(decide({ kind: 'process', argv: ['make'], cwd: '/w/app' })).toBe('ask')
  })

  it('lift no denial', () => {
    fixture.root.policy.grant(read(`${home}/x`), actor(), 'user')
    expect(decide(read(`${home}/x`))).toBe('deny')
    fixture.root.policy.grant(outside, actor(), 'user')
    const authority = { mode: 'read-only' as const }
    expect(fixture.root.policy.decide(outside, actor(authority)).answer).toBe('deny')
  })
})
