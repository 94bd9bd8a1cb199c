import { estimateTokens, type ModelProvider } from '@cordage/core/model'
import type { RootContext } from '@cordage/core/kernel'
import { jsonText, oneLine, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { askShortly } from './probe.ts'
import { withHarness } from './with-harness.ts'

const TEST_TIMEOUT_MS = 60_000

/** The routes and the models that they declare, with what is missing to use them. */
export async function listModels(options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const models = modelsOf(ctx)
    const chosen = models.default()
    const list = models.providers().flatMap((provider) =>
      provider.declared().map((info) => ({
        name: `${provider.id}/${info.id}`,
        provider: provider.displayName,
        ready: isReady(provider),
        default: chosen?.provider === provider.id && chosen.model === info.id,
        contextWindow: info.contextWindow,
        maxTokens: info.maxTokens,
        needs: provider.apiKeyEnv ?? null,
      })),
    )
    const rows = list.map((model) => [
      model.name,
      model.provider,
      `${Math.round(model.contextWindow / 1000)}k`,
      model.ready ? (model.default ? 'ready, the default' : 'ready') : `needs ${model.needs}`,
    ])
    const hint = 'Other ids pass through: <provider>/<any id that the server knows>.\n'
    process.stdout.write(options.output === 'json' ? jsonText(list) : tableText(rows) + hint)
    return 0
  })
}

/** Sends one short request and says what came back; throws the route's own error. */
export async function testModel(name: string | undefined, options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const models = modelsOf(ctx)
    const resolved = name === undefined ? models.default() : models.resolve(name)
    if (!resolved) {
      const reason = 'No model has a credential; name one: cordage models test <provider>/<id>.'
      throw cliError('USAGE', { reason })
    }
    const { provider, model, route } = resolved
    const { text, ms } = await askShortly(route, model, TEST_TIMEOUT_MS)
    const result = { model: `${provider}/${model}`, ms, tokens: estimateTokens(text), text }
    const line = `${result.model} answered in ${ms} ms: ${oneLine(text, 200)}\n`
    process.stdout.write(options.output === 'json' ? jsonText(result) : line)
    return 0
  })
}

function isReady(provider: ModelProvider): boolean {
  return provider.scripted === true || provider.available()
}

function modelsOf(ctx: RootContext) {
  const models = ctx.get('models')
  if (!models) throw cliError('USAGE', { reason: 'This profile has no models.' })
  return models
}
