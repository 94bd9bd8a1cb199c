import { Fiber, Service, symbols, type Context as Container, type Plugin } from 'cordis'

/** Ours from `definePlugin`, or anything that plain Cordis accepts as a plugin. */
export type AnyPlugin = Plugin

type Disposer = () => unknown

/**
 * Runs a plugin of any form and answers its disposer, if it has one. The container itself would
 * call `new` on a plain `function`, lose its promise, and refuse other results than effects.
 */
export async function activate(
  plugin: AnyPlugin,
  ctx: Container,
  config: unknown,
): Promise<Disposer | undefined> {
  const started = start(plugin, ctx, config)
  // A child is a fiber of its own: the parent takes over neither its wait nor its failure.
  if (started instanceof Fiber) return undefined
  const result = await started
  if (typeof result === 'function') return result as Disposer
  if (isEffect(result)) await ctx.effect(() => result)
  return undefined
}

function start(plugin: AnyPlugin, ctx: Container, config: unknown): unknown {
  if (typeof plugin !== 'function') return plugin.apply(ctx, config)
  if (!isClass(plugin)) return (plugin as Plugin.Function)(ctx, config)
  const instance = new (plugin as Plugin.Constructor)(ctx, config)
  for (const hook of instance[symbols.initHooks] ?? []) hook()
  return instance[symbols.init]?.()
}

function isClass(plugin: { prototype?: unknown }): boolean {
  if (plugin.prototype instanceof Service) return true
  return /^class\b/.test(Function.prototype.toString.call(plugin))
}

type Parts = Iterable<Disposer, void, void> | AsyncIterable<Disposer, void, void>

function isEffect(value: unknown): value is Parts {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.iterator in value || Symbol.asyncIterator in value
}
