import { modes, type Answer, type Effect, type Mode } from '@cordage/core/policy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { actor, home, openPolicy, read, run, write, type PolicyFixture } from './broker-fixture.ts'

let fixture: PolicyFixture
beforeAll(async () => {
  fixture = await openPolicy()
})
afterAll(() => fixture.close())

const decide = (effect: Effect, mode: Mode, netHosts?: string[]): Answer => {
  const authority = { mode, ...(netHosts ? { netHosts } : {}) }
  return fixture.root.policy.decide(effect, actor(authority)).answer
}
const inEachMode = (effect: Effect) => modes.map((mode) => decide(effect, mode))

describe('modes (read-only, workspace-write, full-access)', () => {
  const net: Effect = { kind: 'net', host: 'example.com', port: 443 }
  it.each<[string, Effect, Answer[]]>([
    ['read anywhere', read('/etc/hosts'), ['allow', 'allow', 'allow']],
    ['write inside', write('/w/app/src/a.ts'), ['deny', 'allow', 'allow']],
    ['write the root itself', write('/w/app'), ['deny', 'allow', 'allow']],
    ['write outside', write('/w/other/a.ts'), ['deny', 'ask', 'allow']],
    ['write beside with the same prefix', write('/w/app2/a.ts'), ['deny', 'ask', 'allow']],
    ['write out with ..', write('/w/app/../other/a.ts'), ['deny', 'ask', 'allow']],
    ['write to a name that starts with dots', write('/w/app/..a'), ['deny', 'allow', 'allow']],
    ['run', run('ls'), ['deny', 'allow', 'allow']],
    ['net', net, ['deny', 'ask', 'allow']],
    ['secret', { kind: 'secret', name: 'X' }, ['deny', 'deny', 'ask']],
    ['spawn', { kind: 'spawn', preset: 'p' }, ['deny', 'allow', 'allow']],
    ['config', { kind: 'config', target: 'row' }, ['deny', 'ask', 'allow']],
    ['spend', { kind: 'spend', tokens: 1, purpose: 'p' }, ['allow', 'allow', 'allow']],
  ])('%s', (_, effect, answers) => {
    expect(inEachMode(effect)).toEqual(answers)
  })

  it('denies what is not an absolute path, whatever the mode', () => {
    for (const path of ['a.ts', '', './a', '/w/app/\0/etc/passwd']) {
      expect(inEachMode(write(path))).toEqual(['deny', 'deny', 'deny'])
      expect(inEachMode(read(path))).toEqual(['deny', 'deny', 'deny'])
    }
    expect(inEachMode(run('ls', 'src'))).toEqual(['deny', 'deny', 'deny'])
  })

  it('reaches only listed hosts unasked where there is a list', () => {
    const hosts = ['API.example.com']
    const listed: Effect = { kind: 'net', host: 'api.EXAMPLE.com', port: 443 }
    expect(modes.map((mode) => decide(listed, mode, hosts))).toEqual(['allow', 'allow', 'allow'])
    const other: Effect = { kind: 'net', host: 'evil-api.example.com', port: 443 }
    expect(modes.map((mode) => decide(other, mode, hosts))).toEqual(['deny', 'ask', 'ask'])
  })
})

describe('protected paths', () => {
  it.each([
    `${home}/config.yml`,
    home,
    `${home}/../.cordage/sessions/x`,
    `${home}/skills/../credentials.yml`,
    `${home}/skillset/x`,
    `${home}/skills/pdf/.ssh/id_ed25519`,
    '/home/ann/.CORDAGE/credentials.yml',
    '/root/.ssh/id_ed25519',
    '/home/ann/.aws/credentials',
    '/home/ann/.netrc',
    '/proc/self/environ',
    '/proc/1/task/1/environ',
    '/proc/12/mem',
  ])('%s is neither read nor written in any mode', (path) => {
    expect(inEachMode(read(path))).toEqual(['deny', 'deny', 'deny'])
    expect(inEachMode(write(path))).toEqual(['deny', 'deny', 'deny'])
  })

  it('lets everybody read what the skills of a person bring along, and nobody write it', () => {
    const path = `${home}/skills/pdf/forms.md`
    expect(inEachMode(read(path))).toEqual(['allow', 'allow', 'allow'])
    expect(inEachMode(write(path))).toEqual(['deny', 'deny', 'deny'])
  })

  it.each([
    '/w/app/.git/hooks/pre-commit',
    '/w/app/.git/config',
    '/w/app/.Git/Config',
    '/w/app/.git/modules/sub/hooks/post-checkout',
    '/w/app/.git',
    '/w/app/docs/AGENTS.md',
    '/w/app/claude.md',
    '/w/app/skills/x/SKILL.md',
    '/w/app/.cordage/rules.yml',
    '/w/app/.agents/skills/pdf.md',
    '/w/app/.github/workflows/ci.yml',
    '/w/app/.gitlab-ci.yml',
    '/w/app/.ci/run',
    '/w/app/.bashrc',
    '/w/app/x/../.zshrc',
  ])('%s is read freely and written only after asking', (path) => {
    expect(inEachMode(read(path))).toEqual(['allow', 'allow', 'allow'])
    expect(inEachMode(write(path))).toEqual(['deny', 'ask', 'ask'])
  })

  it.each([
    '/w/app/.github/workflows.md',
    '/w/app/.cordage2/x',
    '/w/app/.gitignore',
    '/w/app/src/config',
    '/w/app/.git/objects/ab/cd',
    '/w/app/my-agents.md',
    '/w/app/profile',
    '/w/app/.circleci.md',
  ])('%s is not protected', (path) => {
    expect(inEachMode(write(path))).toEqual(['deny', 'allow', 'allow'])
  })
})
