import type { Agent } from '@cordage/core/agent'
import type { Invocation } from '@cordage/core/command'
import { exists, projectOf } from '@cordage/core/environment'
import { isHarnessError } from '@cordage/core/error'
import { sessionDirectory, sessionTitle, type Session } from '@cordage/core/session'
import { firstTitle } from '@cordage/core/store'
import type { HeadlessContext } from './context.ts'
import { headlessError } from './errors.ts'

/** Makes or opens the session of a run, with what is no longer as it was, in words. */
export async function openSession(
  ctx: HeadlessContext,
  { session: wanted, cwd, takeOver }: Invocation,
): Promise<Session> {
  const project = await projectOf(ctx.fs, cwd)
  if (wanted.kind === 'new') {
    const session = await ctx.sessions.create({ project, depth: 0 })
    if (cwd !== project) await session.append([sessionDirectory({ cwd })])
    return session
  }
  const id = wanted.kind === 'resume' ? wanted.id : await latest(ctx, project)
  return ctx.sessions.open(id, { mode: 'write', takeOver })
}

/** Titles a session by the first words it is given, without asking a model. */
export async function nameSession(
  ctx: HeadlessContext,
  session: Session,
  text: string,
): Promise<void> {
  if (session.state(sessionTitle) !== undefined) return
  const title = firstTitle(ctx.get('credentials')?.redact(text) ?? text)
  await session.append([sessionTitle({ title, by: 'first-words' })], { sync: false })
}

async function latest(ctx: HeadlessContext, project: string): Promise<string> {
  const [newest] = await ctx.store.list({ project, limit: 1 })
  if (!newest) throw headlessError('SESSION_NONE', { project })
  return newest.header.id
}

/** The tools that the last request offered and the next one will not. */
export function whichToolsAreGone(ctx: HeadlessContext, agent: Agent): string[] {
  const before = agent.session.requestHeader?.tools ?? []
  const { provider, model, info } = ctx.models.resolve(agent.choice.model)
  const { tools } = ctx.tools.resolve(agent.scope, { provider, model, input: info.input })
  const names = before.map(({ name }) => name).filter((name) => !tools.has(name))
  return names.map((name) => `the tool ${name} is gone`)
}

/** What a resumed session had and this process has not. */
export async function whatIsGone(ctx: HeadlessContext, session: Session): Promise<string[]> {
  const gone: string[] = []
  for (const path of new Set([session.header.project, session.cwd])) {
    if (!(await exists(ctx.fs, path))) gone.push(`the directory ${path} is gone`)
  }
  const header = session.requestHeader
  if (!header) return gone
  try {
    ctx.models.resolve(`${header.provider}/${header.model}`)
  } catch (error) {
    if (!isHarnessError(error)) throw error
    gone.push(`the model ${header.provider}/${header.model} is gone: ${error.message}`)
  }
  return gone
}
