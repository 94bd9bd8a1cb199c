import { z } from 'zod'
import { assert } from './assert.ts'
import { containerOf } from './container.ts'
import type { Context, PluginContext, Services } from './context.ts'
import { closedOrphans } from './own.ts'

/** What one version of a plugin's config changed; paths are dotted, as in `limits.maxBytes`. */
export interface ConfigMigration {
  /** From the old path to the new one. */
  readonly rename?: Readonly<Record<string, string>>
  /** Paths that mean nothing any more. */
  readonly drop?: readonly string[]
  /** By new path, what makes the new value from the old one, which is a scalar. */
  readonly convert?: Readonly<Record<string, (value: unknown) => unknown>>
}

/** A row that would be mounted, with its configuration as the schema of its plugin leaves it. */
export interface ConfiguredRow {
  readonly id: string
  readonly config: unknown
}

/** A sentence for a person, and the key of the configuration that it is about. */
export interface Advice {
  readonly key?: string
  readonly text: string
}

/** A plugin as the composer mounts it; `provides` and `inject` are read by dry boots. */
export interface Plugin<Config = unknown> {
  readonly name: string
  readonly provides: readonly (keyof Services)[]
  readonly inject: (keyof Services)[]
  readonly Config: z.ZodType<Config>
  readonly configVersion: number
  /** By the version that a migration leads to. */
  readonly migrate: Readonly<Record<number, ConfigMigration>>
  advise?(config: Config, rows: readonly ConfiguredRow[]): readonly Advice[]
  apply(ctx: Context, config: Config): Promise<void>
}

export interface PluginDefinition<
  P extends keyof Services,
  K extends keyof Services,
  C extends z.ZodType,
> {
  readonly name: string
  readonly provides?: readonly P[]
  readonly inject?: readonly K[]
  readonly config?: C
  /** Counts up with each change that an older config does not survive. Default 1. */
  readonly configVersion?: number
  readonly migrate?: Readonly<Record<number, ConfigMigration>>
  /** What a sound configuration comes to among the other rows, for `config check`. */
  advise?(config: z.output<C>, rows: readonly ConfiguredRow[]): readonly Advice[]
  /** Registers; what it returns is ignored, so cleanup goes through `ctx.effect`. */
  apply(ctx: PluginContext<K>, config: z.output<C>): unknown
}

const noConfig = z.strictObject({})

/** Activation fails unless `apply` provides exactly `provides`. */
export function definePlugin<
  const P extends keyof Services = never,
  const K extends keyof Services = never,
  C extends z.ZodType = typeof noConfig,
>(definition: PluginDefinition<P, K, C>): Plugin<z.output<C>> {
  const { name, provides = [], inject = [], configVersion = 1, migrate = {}, advise } = definition
  return {
    name,
    provides,
    inject: [...inject],
    Config: (definition.config ?? noConfig) as z.ZodType<z.output<C>>,
    configVersion,
    migrate,
    ...(advise ? { advise } : {}),
    // An arrow: the container calls `new` on anything else and drops the promise.
    apply: async (ctx, config) => {
      try {
        await definition.apply(ctx as PluginContext<K>, config)
        assertProvided(name, provides, ctx)
      } finally {
        await closedOrphans(ctx)
      }
    },
  }
}

function assertProvided(name: string, declared: readonly string[], ctx: Context): void {
  const { fiber } = containerOf(ctx)
  const own = Object.values(fiber.store ?? {}).filter((impl) => impl.fiber === fiber)
  const provided = own.map((impl) => impl.name)
  const missing = declared.filter((key) => !provided.includes(key))
  const extra = provided.filter((key) => !declared.includes(key))
  assert(missing.length === 0, `${name} declares but does not provide ${missing.join(', ')}`)
  assert(extra.length === 0, `${name} provides but does not declare ${extra.join(', ')}`)
}
