import { chmod, link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toolResult, type Fact } from '@cordage/core/session'
import { runCli } from '../e2e/fixture/cli.ts'
import { makePlace, type Place } from '../e2e/fixture/place.ts'
import { latestSession, readLog } from '../e2e/fixture/read-log.ts'

/** In every file that no tool may show. */
export const SECRET = 'TOP-SECRET-7c1f'
/** A key in the environment of the command line. */
export const KEY = 'sk-proof-0123456789abcdef0123456789'

export type Mode = 'read-only' | 'workspace-write' | 'full-access'

export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** A project with traps around it. */
export interface Trap extends Place {
  readonly outside: string
  /** The person's own home directory, with keys. */
  readonly user: string
}

export async function makeTrap(): Promise<Trap> {
  const place = await makePlace('empty')
  const { base, home, project } = place
  const [outside, user] = [join(base, 'outside'), join(base, 'user')]
  for (const folder of [outside, join(user, '.ssh'), join(user, '.aws')]) {
    await mkdir(folder, { recursive: true })
  }
  for (const folder of ['.git/hooks', 'sub/.git/hooks', 'src']) {
    await mkdir(join(project, folder), { recursive: true })
  }
  await writeFile(join(outside, 'target.txt'), 'untouched\n')
  await writeFile(join(user, '.ssh/id_ed25519'), `${SECRET}\n`)
  await writeFile(join(user, '.aws/credentials'), `${SECRET}\n`)
  await writeFile(join(home, 'note.yml'), `# ${SECRET}\n`)
  await writeFile(join(project, 'AGENTS.md'), 'Be kind.\n')
  await writeFile(join(project, 'src/plain.txt'), 'one\ntwo\n')
  await writeFile(join(project, 'hard-source.txt'), 'x\n')
  await chmod(join(outside, 'target.txt'), 0o644)
  await link(join(outside, 'target.txt'), join(project, 'hard.txt'))
  await symlink(outside, join(project, 'out'))
  await symlink(join(outside, 'target.txt'), join(project, 'soft.txt'))
  await symlink(join(outside, 'new.txt'), join(project, 'dangling.txt'))
  await symlink(join(user, '.ssh'), join(project, 'keys'))
  await symlink(home, join(project, 'harness'))
  await symlink('/proc/self', join(project, 'self'))
  await symlink('.git/hooks', join(project, 'innocent'))
  return { ...place, outside, user }
}

export interface Outcome {
  readonly isError: boolean
  readonly code: string | undefined
  /** What the model is shown. */
  readonly text: string
}

export interface Attacked {
  readonly outcomes: readonly Outcome[]
  readonly facts: readonly Fact[]
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Has the real command line make these calls, one a step, as if a model had asked for them. */
export async function attack(
  place: Place,
  mode: Mode,
  calls: readonly Call[],
  env: Readonly<Record<string, string>> = {},
): Promise<Attacked> {
  const patch = join(place.base, 'attack.patch.yml')
  const steps = [...calls.map((call) => ({ calls: [call] })), { text: 'That was all.' }]
  const overlay = [{ id: 'model-scripted', merge: { scripts: { attack: { steps } } } }]
  await writeFile(patch, JSON.stringify(overlay))
  const args = ['--patch', patch, 'run', '--model', 'scripted/attack', '--permission', mode]
  const ended = await runCli(place, [...args, 'Go'], { env: { OPENAI_API_KEY: KEY, ...env } })
  const facts = readLog(place.home, latestSession(place.home))
  const results = facts.filter(toolResult.is).map(({ data }) => data)
  const outcomes = results.map(({ part, error }) => ({
    isError: part.isError,
    code: error?.code,
    text: part.content.map((inner) => (inner.type === 'text' ? inner.text : '')).join(''),
  }))
  return { outcomes, facts, ...ended }
}

export const call = (name: string, args: Record<string, unknown>): Call => ({
  name,
  arguments: args,
})

export const patchCall = (...lines: string[]): Call =>
  call('apply_patch', { patch: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') })
