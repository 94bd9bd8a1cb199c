import type { ModelProvider, Models } from '@cordage/core/model'
import type { RootContext } from '@cordage/core/kernel'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

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
        input: info.input,
        reasoningEfforts: Object.keys(info.efforts ?? {}),
        price: info.price ?? null,
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

function isReady(provider: ModelProvider): boolean {
  return provider.scripted === true || provider.available()
}

/** Throws `USAGE` for a profile without models. */
export function modelsOf(ctx: RootContext): Models {
  const models = ctx.get('models')
  if (!models) throw cliError('USAGE', { reason: 'This profile has no models.' })
  return models
}
