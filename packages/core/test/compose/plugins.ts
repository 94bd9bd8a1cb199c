import { createRoot, definePlugin, own } from '../../src/kernel/index.ts'
import type { Context, Services } from '../../src/kernel/index.ts'
import type { Composition, Loaded, Loader } from '../../src/compose/index.ts'
import { composed } from './layers.ts'

export interface Named {
  label: string
}

declare module '@cordage/core/kernel' {
  interface Services {
    composeA: Named
    composeB: Named
    composeC: Named
  }
}

type Key = 'composeA' | 'composeB' | 'composeC'

/** What happened, as `row+` and `row-`. */
export type Trail = string[]

/** A plugin that notes its coming and going, provides and injects what it is told. */
export function traced(
  trail: Trail,
  name: string,
  { provides = [], inject = [] }: { provides?: Key[]; inject?: Key[] } = {},
): ReturnType<typeof definePlugin> {
  return definePlugin({
    name,
    provides,
    inject,
    apply(ctx) {
      trail.push(`${name}+`)
      ctx.effect(() => () => trail.push(`${name}-`))
      for (const key of provides) own(ctx, key, { label: name })
    },
  })
}

/** A loader of plugins by name; what is not there is not installed. */
export function loaderOf(plugins: Record<string, unknown>, more: Partial<Loaded> = {}): Loader {
  return {
    async load(name, from) {
      if (Object.hasOwn(plugins, name))
        return { plugin: plugins[name], file: `/lib/${name}.js`, ...more }
      const error = new Error(`Cannot find package '${name}' imported from ${from}`)
      throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
    },
  }
}

/** A composition of rows whose id is the name of their plugin. */
export function rowsOf(...rows: string[]): Composition {
  const lines = rows.map(
    (row) => `  - ${/^[\w-]+$/.test(row) ? `{ id: ${row}, name: ${row} }` : row}\n`,
  )
  return composed({ bundle: `- insert:\n${lines.join('')}` })
}

export function quietRoot(): Context & {
  get<K extends keyof Services>(key: K): Services[K] | undefined
} {
  return createRoot({ log: () => {} })
}
