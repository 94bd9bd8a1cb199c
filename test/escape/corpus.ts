import { join } from 'node:path'
import { call, patchCall, type Call, type Trap } from './attack.ts'

export interface Attempt {
  readonly title: string
  readonly call: (trap: Trap) => Call
}

const attempt = (title: string, make: Attempt['call']): Attempt => ({ title, call: make })
const writes = (title: string, path: (trap: Trap) => string): Attempt =>
  attempt(`writing ${title}`, (trap) =>
    call('write', { file_path: path(trap), content: 'owned\n' }),
  )
const reads = (title: string, path: (trap: Trap) => string): Attempt =>
  attempt(`reading ${title}`, (trap) => call('read', { file_path: path(trap) }))

/** Refused in `workspace-write` when nobody is there to ask. */
export const leavingTheWorkspace: readonly Attempt[] = [
  writes('beside the project by ..', () => '../outside/owned.txt'),
  writes('beside the project by many ..', () => 'src/../src/../../outside/owned.txt'),
  writes('beside the project by its whole path', ({ outside }) => join(outside, 'owned.txt')),
  writes('through a linked directory', () => 'out/owned.txt'),
  writes('through a linked directory and a new one', () => 'out/deep/er/owned.txt'),
  writes('through a link to a file', () => 'soft.txt'),
  writes('through a link to a file that is not there', () => 'dangling.txt'),
  writes('through /proc/self/root', ({ outside }) => `/proc/self/root${outside}/owned.txt`),
  writes('through /proc/self/cwd', () => '/proc/self/cwd/../outside/owned.txt'),
  writes('through a link to /proc/self', ({ outside }) => `self/root${outside}/owned.txt`),
  writes('to a directory whose name begins like the project', ({ project }) => `${project}-2/x`),
  attempt('editing through a link to a file', () =>
    call('edit', { file_path: 'soft.txt', old_string: 'untouched', new_string: 'owned' }),
  ),
  attempt('a patch that adds a file by ..', () =>
    patchCall('*** Add File: ../outside/owned.txt', '+owned'),
  ),
  attempt('a patch that adds a file by its whole path', ({ outside }) =>
    patchCall(`*** Add File: ${join(outside, 'owned.txt')}`, '+owned'),
  ),
  attempt('a patch that updates through a link', () =>
    patchCall('*** Update File: out/target.txt', '@@', '-untouched', '+owned'),
  ),
  attempt('a patch that deletes through a link', () =>
    patchCall('*** Delete File: out/target.txt'),
  ),
  attempt('a patch that moves a file out', () =>
    patchCall(
      '*** Update File: src/plain.txt',
      '*** Move to: ../outside/owned.txt',
      '@@',
      '-one',
      '+owned',
    ),
  ),
  attempt('a unified diff that climbs', () =>
    call('apply_patch', {
      patch: '--- /dev/null\n+++ b/../outside/owned.txt\n@@ -0,0 +1 @@\n+owned\n',
    }),
  ),
]

/** Refused in every mode when nobody is there to ask, although they lie inside the project. */
export const lastingInfluence: readonly Attempt[] = [
  writes('a git hook', () => '.git/hooks/pre-commit'),
  writes('a git hook of a project within', () => 'sub/.git/hooks/post-checkout'),
  writes('a git hook through a link', () => 'innocent/pre-push'),
  writes('a git hook in capitals', () => '.GIT/HOOKS/pre-commit'),
  writes('the git configuration', () => '.git/config'),
  writes('instructions further down', () => 'src/AGENTS.md'),
  writes('instructions of others', () => 'CLAUDE.md'),
  writes('instructions in small letters', () => 'src/agents.md'),
  writes('a workflow of CI', () => '.github/workflows/steal.yml'),
  writes('a start-up file of direnv', () => '.envrc'),
  attempt('editing the instructions', () =>
    call('edit', { file_path: 'AGENTS.md', old_string: 'kind', new_string: 'evil' }),
  ),
  attempt('a patch of the instructions', () =>
    patchCall('*** Update File: AGENTS.md', '@@', '-Be kind.', '+Be evil.'),
  ),
  attempt('a patch that makes a git hook', () =>
    patchCall('*** Add File: .git/hooks/pre-commit', '+owned'),
  ),
]

/** Refused in every mode, whoever is there. */
export const secrets: readonly Attempt[] = [
  reads('the environment of the harness', () => '/proc/self/environ'),
  reads('the environment of a thread', () => '/proc/thread-self/environ'),
  reads('the environment through a link', () => 'self/environ'),
  reads('the environment around a corner', () => '/proc/self/task/../environ'),
  reads('the memory of the harness', () => '/proc/self/mem'),
  reads('the harness home', ({ home }) => join(home, 'note.yml')),
  reads('the harness home through a link', () => 'harness/note.yml'),
  reads('the harness home through /proc', ({ home }) => `/proc/self/root${home}/note.yml`),
  reads('an SSH key', ({ user }) => join(user, '.ssh/id_ed25519')),
  reads('an SSH key through a link', () => 'keys/id_ed25519'),
  reads('cloud credentials', ({ user }) => join(user, '.aws/credentials')),
  writes('the harness configuration', ({ home }) => join(home, 'cordis.patch.yml')),
  writes('the harness configuration through a link', () => 'harness/cordis.patch.yml'),
  attempt('listing the harness home', ({ home }) => call('list', { path: home })),
  attempt('searching the harness home', ({ home }) =>
    call('grep', { pattern: 'SECRET', path: home }),
  ),
  attempt('finding files of the harness home', () =>
    call('glob', { pattern: '**/*', path: 'harness' }),
  ),
]
