import { describe, didYouMean, toExitCode } from '@cordage/core/error'
import type { ModelProvider } from '@cordage/core/model'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { askShortly } from './probe.ts'
import { withHarness } from './with-harness.ts'

const TIMEOUT_MS = 60_000

interface Tried {
  readonly route: string
  readonly ok: boolean
  readonly detail: string
}

/**
 * Sends one short request on each route that uses the credential: a list of models is public in
 * some places, so that only an answer says that a key is good.
 */
export async function testCredential(target: string, options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const providers = ctx.get('models')?.providers() ?? []
    const routes = providers.filter(({ id, apiKeyEnv }) => id === target || apiKeyEnv === target)
    if (routes.length === 0) throw unknown(target, providers)
    const tried: Tried[] = []
    let exit = 0
    for (const route of routes) {
      try {
        tried.push({ route: route.id, ok: true, detail: await tryRoute(route) })
      } catch (error) {
        const { code, message } = describe(error)
        tried.push({ route: route.id, ok: false, detail: `${message} [${code}]` })
        exit ||= toExitCode(error)
      }
    }
    const lines = tried.map(({ route, ok, detail }) => [ok ? 'ok' : 'failed', route, detail])
    process.stdout.write(options.output === 'json' ? jsonText(tried) : tableText(lines))
    return exit
  })
}

async function tryRoute(route: ModelProvider): Promise<string> {
  const [first] = route.declared()
  if (first !== undefined) {
    const { ms } = await askShortly(route, first.id, TIMEOUT_MS)
    return `${first.id} answered in ${ms} ms`
  }
  const models = await route.list(AbortSignal.timeout(TIMEOUT_MS))
  return `it declares no model, but the server lists ${models.length}`
}

function unknown(target: string, providers: readonly ModelProvider[]): Error {
  const known = providers.flatMap(({ id, apiKeyEnv = [] }) => [id, ...[apiKeyEnv].flat()])
  const hint = didYouMean(target, known) ?? `Known: ${known.join(', ')}.`
  return cliError('USAGE', { reason: `No route uses "${target}". ${hint}` })
}
