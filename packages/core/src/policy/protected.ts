import path from 'node:path'
import type { Decision, Effect } from './effect.ts'
import { contains } from './paths.ts'

/** Files that belong together; names are lower case, because some file systems have no case. */
interface Guarded {
  readonly what: string
  /** These directories, wherever they are, with all that is in them. */
  readonly within?: readonly string[]
  /** Files and directories by their last components. */
  readonly named?: readonly string[]
  readonly match?: RegExp
}

/** Secrets of a person or a process: neither read nor written by any tool, in any mode. */
const secrets: readonly Guarded[] = [
  {
    what: 'credentials',
    within: ['.ssh', '.gnupg', '.config/gcloud', '.password-store'],
    named: [
      '.aws/credentials',
      '.config/gh/hosts.yml',
      '.cordage/credentials.yaml',
      '.cordage/credentials.yml',
      '.docker/config.json',
      '.git-credentials',
      '.kube/config',
      '.netrc',
    ],
  },
  { what: 'a process', match: /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem)$/ },
]

/** Files that make something run, or tell an agent what to do, after this session. */
const writeAsks: readonly Guarded[] = [
  {
    what: 'git hooks or configuration',
    named: ['.git'],
    // Those of submodules and worktrees are further below.
    match: /\/\.git\/(.*\/)?(hooks(\/.*)?|config(\.worktree)?)$/,
  },
  {
    what: 'instructions of an agent',
    within: ['.cordage', '.agents/skills'],
    match: /\/(agents|claude|gemini|skill)(\.local|\.override)?\.md$/,
  },
  {
    what: 'a CI file',
    within: ['.ci', '.circleci', '.github/actions', '.github/workflows'],
    named: [
      '.gitlab-ci.yaml',
      '.gitlab-ci.yml',
      '.travis.yaml',
      '.travis.yml',
      'azure-pipelines.yml',
      'bitbucket-pipelines.yml',
      'jenkinsfile',
    ],
  },
  {
    what: 'a shell start-up file',
    within: ['.config/fish'],
    named: [
      '.cshrc',
      '.envrc',
      '.inputrc',
      '.kshrc',
      '.profile',
      '.tcshrc',
      '.xinitrc',
      '.xprofile',
    ],
    match: /\/\.(bashrc|bash_(profile|login|logout|aliases)|z(shrc|shenv|profile|login|logout))$/,
  },
]

/** What holds in every mode for the files of `effect`, whose path is canonical. */
export function decideProtected(
  effect: Extract<Effect, { kind: 'fs:read' | 'fs:write' }>,
  home: string,
): Decision | undefined {
  const file = toSlashes(effect.path).toLowerCase()
  // What a skill brings along is there to be read; its own secrets are judged below.
  const ofSkill = effect.kind === 'fs:read' && contains(path.join(home, 'skills'), effect.path)
  // A home directory on a file system without case must not be had by another spelling.
  const ofHome = contains(home.toLowerCase(), effect.path.toLowerCase())
  if (ofHome && !ofSkill) return deny('the harness home')
  const secret = secrets.find((guarded) => covers(guarded, file))
  if (secret) return deny(secret.what)
  if (effect.kind === 'fs:read') return undefined
  const asks = writeAsks.find((guarded) => covers(guarded, file))
  if (!asks) return undefined
  return { answer: 'ask', rule: 'protected', reason: `it would change ${asks.what}` }
}

function covers({ within = [], named = [], match }: Guarded, file: string): boolean {
  return (
    within.some((directory) => `${file}/`.includes(`/${directory}/`)) ||
    named.some((name) => file.endsWith(`/${name}`)) ||
    match?.test(file) === true
  )
}

function deny(what: string): Decision {
  return { answer: 'deny', rule: 'protected', reason: `${what} may not be touched by tools` }
}

function toSlashes(file: string): string {
  return path.sep === '/' ? file : file.replaceAll(path.sep, '/')
}
