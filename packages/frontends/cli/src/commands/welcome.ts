import { describe } from '@cordage/core/error'
import { projectOf } from '@cordage/core/environment'
import type { SessionSummary } from '@cordage/core/store'
import { problemsOf } from '@cordage/core/compose'
import { timeText } from '../export/time-text.ts'
import { boot, composeRequestOf, type Harness } from '../boot/boot.ts'
import { composeProfile } from '../boot/layers.ts'
import { version } from '../boot/installation.ts'
import { oneLine, tableText } from '../print/table.ts'
import { sourceOf } from './credential-check.ts'
import { routesOf } from './routes.ts'

const PROFILE = 'headless'
const MANY = 100

/** What bare `cordage` says in a terminal: what is there, what is missing, and what to do next. */
export async function welcome(): Promise<string> {
  const head = `Cordage ${version} is an agent that works in the directory you start it in.\n\n`
  let harness: Harness
  try {
    harness = await boot({ profile: PROFILE })
  } catch (error) {
    return head + brokenText(error)
  }
  try {
    const model = modelLine(harness)
    const sessions = await sessionsHere(harness)
    const facts = tableText([
      ['  here', harness.host.cwd],
      ['  model', model ?? 'none yet: there is no key and no base URL'],
      ['  sessions', sessionLine(sessions)],
    ])
    return `${head}${facts}\n${tableText(nextSteps(model !== undefined, sessions.length > 0))}`
  } finally {
    await harness.close()
  }
}

function brokenText(error: unknown): string {
  const problems = problemsOf(error).length
  const what =
    problems > 0 ? `The configuration has problems (${problems}).` : describe(error).message
  const steps = [
    ['  cordage config check', 'what is wrong, with file and line'],
    ['  cordage doctor', 'what works on this machine, and what does not'],
    ['  cordage --safe "a task"', 'without your own layers'],
  ]
  return `${what} Nothing can start until that is mended:\n\n${tableText(steps)}`
}

function modelLine({ ctx, host }: Harness): string | undefined {
  try {
    const chosen = ctx.get('models')?.default()
    if (chosen === undefined || chosen.route.scripted === true) return undefined
    const name = `${chosen.provider}/${chosen.model}`
    const { apiKeyEnv } = chosen.route
    const source = apiKeyEnv === undefined ? undefined : sourceOf(apiKeyEnv, host)
    return source === undefined ? name : `${name} (${apiKeyEnv} of the ${source})`
  } catch (error) {
    // Keys that are kept badly are no reason to say nothing else.
    return describe(error).message
  }
}

async function sessionsHere({ ctx, host }: Harness): Promise<readonly SessionSummary[]> {
  const files = ctx.get('fs')
  const project = files === undefined ? host.cwd : await projectOf(files, host.cwd)
  return (await ctx.get('store')?.list({ project, limit: MANY })) ?? []
}

function sessionLine([latest, ...others]: readonly SessionSummary[]): string {
  if (latest === undefined) return 'none of this project yet'
  const count = others.length + 1 < MANY ? String(others.length + 1) : `${MANY} and more`
  const words = oneLine(latest.title ?? latest.firstWords ?? '', 60)
  return `${count} of this project; the latest of ${timeText(latest.updatedAt)}: ${words}`
}

function nextSteps(hasModel: boolean, hasSessions: boolean): string[][] {
  const task = ['  cordage "fix the failing test"', 'do a task here']
  const again = ['  cordage continue "now the docs"', 'go on with the latest session']
  return [
    ...(hasModel ? [task] : [...waysToModel(), task]),
    ...(hasSessions ? [again, ['  cordage sessions list', 'what was done before']] : []),
    ['  cordage doctor', 'what works on this machine, and what does not'],
    ['  cordage --help', 'everything else'],
  ]
}

function waysToModel(): string[][] {
  const { composition } = composeProfile(composeRequestOf({ profile: PROFILE }))
  const keyed = routesOf(composition).filter(({ apiKeyEnv }) => apiKeyEnv !== undefined)
  return [
    ...keyed.map(({ id, displayName, apiKeyEnv }) => [
      `  cordage auth set ${id}`,
      `keep a key of ${displayName} (or set ${apiKeyEnv})`,
    ]),
    ['  cordage --model scripted/fix-a-bug "…"', 'or see a recorded run first'],
  ]
}
