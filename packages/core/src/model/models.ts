import { assert, createRegistry } from '../kernel/index.ts'
import { nearest } from '../error/index.ts'
import { modelError } from './errors.ts'
import type { ModelName, ModelProvider, Models } from './provider.ts'
import { checkWindow } from './window.ts'

const ID = /^[a-z0-9][a-z0-9._-]*$/

/** The registry behind `ctx.models`. */
export function createModels(): Models {
  const registry = createRegistry<ModelProvider>('model provider')
  const chains = createRegistry<readonly string[]>('models of the role')
  const providers = () => registry.list().map((entry) => entry.value)
  const chain = (role: string) => chains.get(role)?.value ?? []

  const models: Models = {
    register: (ctx, provider, options) => {
      assert(ID.test(provider.id), `the provider id "${provider.id}" is not lower case letters`)
      for (const info of provider.declared()) checkWindow(`${provider.id}/${info.id}`, info)
      registry.add(ctx, provider.id, provider, options)
    },
    providers,
    resolve: (name) => {
      const { provider, model } = parseModelName(name)
      const route = registry.get(provider)?.value
      if (!route) {
        const known = providers().map(({ id }) => id)
        throw modelError('MODEL_PROVIDER_UNKNOWN', {
          provider,
          known: nearestFirst(provider, known),
        })
      }
      return { provider, model, route, info: route.info(model) }
    },
    assign: (ctx, role, names) => {
      for (const name of names) parseModelName(name)
      chains.add(ctx, role, [...names])
    },
    chain,
    default: (role = 'main') => {
      const names = new Set([...chain(role), ...chain('main')])
      const assigned = [...names].map((name) => models.resolve(name))
      const usable = assigned.find(({ route }) => route.available() || route.scripted)
      if (usable) return usable
      for (const route of providers()) {
        const info = route.available() ? route.declared()[0] : undefined
        if (info) return { provider: route.id, model: info.id, route, info }
      }
      return undefined
    },
  }
  return models
}

/** Throws `MODEL_NAME_INVALID`. */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/')
  const provider = name.slice(0, slash)
  const model = name.slice(slash + 1)
  if (slash < 1 || model === '' || /\s/.test(name)) throw modelError('MODEL_NAME_INVALID', { name })
  return { provider, model }
}

/** A handful of providers exist, so all are named: the nearest first. */
function nearestFirst(word: string, known: readonly string[]): string[] {
  return [...new Set([...nearest(word, known), ...known])]
}
