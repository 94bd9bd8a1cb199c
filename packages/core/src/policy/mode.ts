import type { Answer, Authority, Decision, Effect, EffectKind, Mode } from './effect.ts'
import { canonicalPath, contains } from './paths.ts'

const answers: Readonly<Record<Mode, Readonly<Record<EffectKind, Answer>>>> = {
  'read-only': {
    'fs:read': 'allow',
    'fs:write': 'deny',
    process: 'deny',
    net: 'deny',
    secret: 'deny',
    spend: 'allow',
    spawn: 'deny',
    config: 'deny',
  },
  'workspace-write': {
    'fs:read': 'allow',
    'fs:write': 'ask',
    process: 'allow',
    net: 'ask',
    secret: 'deny',
    spend: 'allow',
    spawn: 'allow',
    config: 'ask',
  },
  'full-access': {
    'fs:read': 'allow',
    'fs:write': 'allow',
    process: 'allow',
    net: 'allow',
    secret: 'ask',
    spend: 'allow',
    spawn: 'allow',
    config: 'allow',
  },
}

/** What the mode alone says; paths of `effect` are canonical. */
export function decideMode(effect: Effect, authority: Authority): Decision {
  const { mode } = authority
  const rule = `mode ${mode}`
  if (effect.kind === 'net' && authority.netHosts) return decideHost(effect.host, authority)
  if (effect.kind === 'fs:write' && mode === 'workspace-write') {
    const inside = isWritable(effect.path, authority)
    const reason = inside ? 'it is inside the workspace' : 'it is outside the writable directories'
    return { answer: inside ? 'allow' : 'ask', rule, reason }
  }
  const answer = answers[mode][effect.kind]
  return { answer, rule, reason: `${mode} ${words[answer]} ${nouns[effect.kind]}` }
}

const words: Readonly<Record<Answer, string>> = {
  allow: 'allows',
  ask: 'asks for',
  deny: 'does not allow',
}

const nouns: Readonly<Record<EffectKind, string>> = {
  'fs:read': 'reading files',
  'fs:write': 'writing files',
  process: 'running programs',
  net: 'network access',
  secret: 'secrets',
  spend: 'spending',
  spawn: 'starting agents',
  config: 'changing the configuration',
}

function decideHost(host: string, { mode, netHosts = [] }: Authority): Decision {
  const listed = netHosts.some((name) => name.toLowerCase() === host.toLowerCase())
  const rule = `mode ${mode}`
  if (listed) return { answer: 'allow', rule, reason: 'the host is listed' }
  const answer = mode === 'read-only' ? 'deny' : 'ask'
  return { answer, rule, reason: 'the host is not among those listed' }
}

function isWritable(file: string, { writableRoots }: Authority): boolean {
  return writableRoots.some((root) => {
    const canonical = canonicalPath(root)
    return canonical !== undefined && contains(canonical, file)
  })
}
