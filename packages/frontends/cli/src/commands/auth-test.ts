import { didYouMean } from '@cordage/core/error'
import type { ModelProvider } from '@cordage/core/model'
import { jsonText, tableText } from '../print/table.ts'
import type { Layer } from '../probe/layer.ts'
import { runProbe, type ProbeOptions } from '../probe/run-probe.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

const TIMEOUT_MS = 60_000

interface Tried {
  readonly route: string
  readonly ok: boolean
  readonly detail: string
  /** Where it failed. */
  readonly layer?: Layer
}

/**
 * Sends one short request on each route that uses the credential: a list of models is public in
 * some places, so that only an answer says that a key is good.
 */
export async function testCredential(target: string, options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx, host }) => {
    const providers = ctx.get('models')?.providers() ?? []
    const routes = providers.filter(({ id, apiKeyEnv }) => id === target || apiKeyEnv === target)
    if (routes.length === 0) throw unknown(target, providers)
    const tried: Tried[] = []
    let exit = 0
    for (const route of routes) {
      const { exit: code, ...outcome } = await tryRoute(route, host.env)
      tried.push({ route: route.id, ...outcome })
      exit ||= code
    }
    const lines = tried.map(({ route, ok, detail }) => [ok ? 'ok' : 'failed', route, detail])
    process.stdout.write(options.output === 'json' ? jsonText(tried) : tableText(lines))
    return exit
  })
}

async function tryRoute(route: ModelProvider, env: ProbeOptions['env']) {
  const model = route.declared()[0]?.id ?? ''
  const probe = model === '' ? 'list' : 'text'
  const tried = await runProbe(probe, { route, model, timeoutMs: TIMEOUT_MS, env })
  const { state, detail, ms, code, exit = 1, layer } = tried
  if (state === 'failed') {
    return { ok: false, detail: `${detail} [${code}]`, exit, ...(layer ? { layer } : {}) }
  }
  if (model !== '') return { ok: true, detail: `${model} answered in ${ms} ms`, exit: 0 }
  const ok = state === 'ok'
  return { ok, detail: `it declares no model; ${detail}`, exit: ok ? 0 : 1 }
}

function unknown(target: string, providers: readonly ModelProvider[]): Error {
  const known = providers.flatMap(({ id, apiKeyEnv = [] }) => [id, ...[apiKeyEnv].flat()])
  const hint = didYouMean(target, known) ?? `Known: ${known.join(', ')}.`
  return cliError('USAGE', { reason: `No route uses "${target}". ${hint}` })
}
