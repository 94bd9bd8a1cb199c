import path from 'node:path'
import type { Decision, Effect } from './effect.ts'
import { contains } from './paths.ts'

/** Components below each other, matched without regard to case: some file systems have none. */
interface Pattern {
  readonly what: string
  readonly match: RegExp
}

/** Secrets of the person: neither read nor written by any tool, in any mode. */
const credentialFiles: Pattern = {
  what: 'credentials',
  match:
    /\/(\.ssh|\.gnupg|\.config\/gcloud|\.password-store)(\/|$)|\/(\.netrc|\.git-credentials|\.aws\/credentials|\.kube\/config|\.docker\/config\.json|\.config\/gh\/hosts\.yml|\.cordage\/credentials\.ya?ml)$/i,
}

/** What a process was started with, its memory included. */
const processSecrets: Pattern = {
  what: 'the environment of a process',
  match: /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem)$/i,
}

/** Files that make something run, or tell an agent what to do, after this session. */
const writeAsks: readonly Pattern[] = [
  {
    what: 'git hooks or configuration',
    match: /\/\.git(\/(.*\/)?(hooks(\/.*)?|config(\.worktree)?))?$/i,
  },
  {
    what: 'instructions of an agent',
    match: /\/((agents|claude|skill|gemini)(\.local|\.override)?\.md|\.cordage(\/.*)?)$/i,
  },
  {
    what: 'a CI file',
    match:
      /\/(\.github\/(workflows|actions)(\/.*)?|\.ci(\/.*)?|\.circleci(\/.*)?|\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines\.ya?ml|bitbucket-pipelines\.ya?ml|jenkinsfile)$/i,
  },
  {
    what: 'a shell start-up file',
    match:
      /\/(\.bashrc|\.bash_(profile|login|logout|aliases)|\.profile|\.z(shrc|shenv|profile|login|logout)|\.config\/fish(\/.*)?|\.kshrc|\.cshrc|\.tcshrc|\.xprofile|\.xinitrc|\.inputrc|\.envrc)$/i,
  },
]

/** What holds in every mode for the files of `effect`, whose path is canonical. */
export function decideProtected(
  effect: Extract<Effect, { kind: 'fs:read' | 'fs:write' }>,
  home: string,
): Decision | undefined {
  const file = toSlashes(effect.path)
  // A home directory on a file system without case must not be had by another spelling.
  if (contains(home.toLowerCase(), effect.path.toLowerCase())) return deny('the harness home')
  if (credentialFiles.match.test(file)) return deny(credentialFiles.what)
  if (processSecrets.match.test(file)) return deny(processSecrets.what)
  if (effect.kind === 'fs:read') return undefined
  const asks = writeAsks.find(({ match }) => match.test(file))
  if (!asks) return undefined
  return { answer: 'ask', rule: 'protected', reason: `it would change ${asks.what}` }
}

function deny(what: string): Decision {
  return { answer: 'deny', rule: 'protected', reason: `${what} may not be touched by tools` }
}

function toSlashes(file: string): string {
  return path.sep === '/' ? file : file.replaceAll(path.sep, '/')
}
