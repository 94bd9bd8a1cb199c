import { isHarnessError } from '@cordage/core/error'
import { modelRoles, parseModelName, type ModelProvider, type Models } from '@cordage/core/model'
import type { RootContext } from '@cordage/core/kernel'
import { jsonText, tableText } from '../print/table.ts'
import { cliError } from './errors.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

/** The routes and the models that they declare or are given a role, with what they cost and need. */
export async function listModels(options: ListOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const list = describeModels(modelsOf(ctx))
    process.stdout.write(options.output === 'json' ? jsonText(list) : textOf(list))
    return 0
  })
}

type Described = ReturnType<typeof describeModels>

function describeModels(models: Models) {
  const chosen = modelRoles.map((role) => [role, chosenFor(models, role)] as const)
  const declared = models.providers().flatMap(({ id, declared }) => {
    return declared().map((info) => `${id}/${info.id}`)
  })
  const assigned = modelRoles.flatMap((role) => models.chain(role))
  return [...new Set([...declared, ...assigned])].flatMap((name) => {
    const { provider: id, model } = parseModelName(name)
    const provider = models.providers().find((one) => one.id === id)
    const info = provider?.info(model)
    return {
      name,
      provider: provider?.displayName ?? null,
      ready: provider !== undefined && isReady(provider),
      default: chosen.some(([role, is]) => role === 'main' && is === name),
      usedFor: chosen.flatMap(([role, is]) => (is === name ? [role] : [])),
      places: placesOf(models, name),
      contextWindow: info?.contextWindow ?? null,
      maxTokens: info?.maxTokens ?? null,
      input: info?.input ?? null,
      reasoningEfforts: Object.keys(info?.efforts ?? {}),
      price: info?.price ?? null,
      needs: provider?.apiKeyEnv ?? null,
    }
  })
}

function chosenFor(models: Models, role: string): string | undefined {
  try {
    const chosen = models.default(role)
    return chosen && `${chosen.provider}/${chosen.model}`
  } catch (error) {
    // A provider that nobody has is shown as that, beside the role.
    if (isHarnessError(error)) return undefined
    throw error
  }
}

/** By role, which one of its chain a model is, counted from 1. */
function placesOf(models: Models, name: string): Partial<Record<string, number>> {
  const places = modelRoles.map((role) => [role, models.chain(role).indexOf(name) + 1] as const)
  return Object.fromEntries(places.filter(([, place]) => place > 0))
}

function textOf(list: Described): string {
  const rows = list.map((model) => [
    model.name,
    model.provider ?? 'nobody',
    model.contextWindow === null ? '' : `${Math.round(model.contextWindow / 1000)}k`,
    model.price ? `$${model.price.input} in, $${model.price.output} out` : 'price unknown',
    Object.entries(model.places)
      .map(([role, place]) => `${role} ${place}`)
      .join(', '),
    stateOf(model),
  ])
  const hint =
    'Prices are dollars for a million tokens; a role has its models in the order of the numbers.\n' +
    'Other ids pass through: <provider>/<any id that the server knows>.\n'
  return tableText(rows) + hint
}

function stateOf({ provider, ready, needs, usedFor }: Described[number]): string {
  if (provider === null) return 'no such provider'
  if (!ready) return `needs ${needs}`
  const others = usedFor.filter((role) => role !== 'main')
  const isDefault = usedFor.length > others.length
  const all = others.length === modelRoles.length - 1
  if (isDefault) return all ? 'ready, the default' : ['ready, the default', ...others].join(', ')
  return others.length === 0 ? 'ready' : `ready, for ${others.join(', ')}`
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
