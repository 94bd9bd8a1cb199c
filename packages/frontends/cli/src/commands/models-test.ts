import { isHarnessError } from '@cordage/core/error'
import { addUsage, NO_USAGE } from '@cordage/core/message'
import type { ModelProvider, Models, ResolvedModel } from '@cordage/core/model'
import { jsonText, tableText } from '../print/table.ts'
import { probes, type ProbeName } from '../probe/probes.ts'
import { runProbe, type ProbeResult } from '../probe/run-probe.ts'
import { cliError } from './errors.ts'
import { modelsOf } from './models.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

export const PROBE_TIMEOUT_MS = 60_000

export interface ModelsTestOptions extends ListOptions {
  /** Probes by name; all unless given. */
  readonly only?: readonly string[]
  /** Milliseconds for each probe. */
  readonly timeout?: number
}

/** Of recorded answers nothing more can be learned. */
const OF_RECORDED: readonly ProbeName[] = ['list', 'text', 'stream']

/**
 * Tries what a run needs of a route, each on its own, and says which layer failed. Exits with the
 * code of the first failure.
 */
export async function testModel(
  route: string | undefined,
  model: string | undefined,
  options: ModelsTestOptions,
): Promise<number> {
  const names = probesOf(options)
  return withHarness(options, async ({ ctx, host }) => {
    const models = modelsOf(ctx)
    const target = await findTarget(models, route, model)
    const timeoutMs = options.timeout ?? PROBE_TIMEOUT_MS
    const results: ProbeResult[] = []
    for (const name of names) {
      results.push(
        target.route.scripted && !OF_RECORDED.includes(name)
          ? skipped(name)
          : await runProbe(name, { ...target, timeoutMs, env: host.env }),
      )
    }
    const text = options.output === 'json' ? asJson(target, results) : asText(target, results)
    process.stdout.write(text)
    return results.find(({ state }) => state === 'failed')?.exit ?? 0
  })
}

function probesOf({ only }: ModelsTestOptions): readonly ProbeName[] {
  const all = Object.keys(probes) as ProbeName[]
  const unknown = only?.find((name) => !all.some((known) => known === name))
  if (unknown !== undefined) {
    const reason = `There is no probe "${unknown}". The probes are ${all.join(', ')}.`
    throw cliError('USAGE', { reason })
  }
  return only ? all.filter((name) => only.includes(name)) : all
}

/** `route` is a provider, or `<provider>/<model id>` as everywhere else. */
async function findTarget(
  models: Models,
  route: string | undefined,
  model: string | undefined,
): Promise<ResolvedModel> {
  if (route === undefined) {
    const chosen = models.default()
    if (chosen) return chosen
    const reason = 'No model has a credential; name one: cordage models test <provider>/<id>.'
    throw cliError('USAGE', { reason })
  }
  if (model !== undefined) return models.resolve(`${route}/${model}`)
  if (route.includes('/')) return models.resolve(route)
  const { route: provider } = models.resolve(`${route}/any`)
  const first = provider.declared()[0]?.id ?? (await firstListed(provider))
  return models.resolve(`${route}/${first}`)
}

async function firstListed(provider: ModelProvider): Promise<string> {
  try {
    const [first] = await provider.list(AbortSignal.timeout(PROBE_TIMEOUT_MS))
    if (first !== undefined) return first
  } catch (error) {
    if (!isHarnessError(error)) throw error
    // A list is not needed where somebody knows a name.
  }
  const reason = `${provider.id} declares and lists no model: cordage models test ${provider.id} <id>.`
  throw cliError('USAGE', { reason })
}

function skipped(probe: ProbeName): ProbeResult {
  return { probe, state: 'skipped', detail: 'the answers are recorded', ms: 0, usage: NO_USAGE }
}

function asJson(target: ResolvedModel, results: readonly ProbeResult[]): string {
  const { provider, model, route } = target
  return jsonText({
    model: `${provider}/${model}`,
    api: route.api,
    baseURL: route.baseURL ?? null,
    usage: usageOf(results),
    probes: results,
  })
}

function asText(target: ResolvedModel, results: readonly ProbeResult[]): string {
  const { provider, model, route } = target
  const rows = results.map(({ probe, state, ms, layer, detail, code }) => [
    state,
    probe,
    state === 'skipped' ? '' : `${ms} ms`,
    layer === undefined ? detail : `${layer}: ${detail} [${code}]`,
  ])
  const { inputTokens, outputTokens, estimated } = usageOf(results)
  const about = estimated ? 'about ' : ''
  const where = route.baseURL === undefined ? route.api : `${route.api} at ${route.baseURL}`
  const used = `${about}${inputTokens} tokens in and ${outputTokens} out were used`
  return `${tableText(rows)}${provider}/${model} by ${where}: ${used}.\n`
}

function usageOf(results: readonly ProbeResult[]) {
  return results.map(({ usage }) => usage).reduce(addUsage, NO_USAGE)
}
