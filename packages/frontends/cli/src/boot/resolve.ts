import { registerHooks, type ResolveFnOutput } from 'node:module'
import { pathToFileURL } from 'node:url'

const ROW = 'cordage-row:'
const CORE = /^@cordage\/core(\/|$)/
const CONTAINER = /^cordis(\/|$)/
const SCHEMAS = /^zod(\/|$)/

let registered = false

/** One resolve hook for every importer: there is one core and one container in a process. */
function register(): void {
  if (registered) return
  registered = true
  const own = import.meta.url
  const kernel = import.meta.resolve('@cordage/core/kernel')
  // Some thirty packages ask for the same twenty modules of core.
  const known = new Map<string, ResolveFnOutput>()
  const once = (specifier: string, resolve: () => ResolveFnOutput) => {
    const found = known.get(specifier) ?? { ...resolve(), shortCircuit: true }
    known.set(specifier, found)
    return found
  }
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier.startsWith(ROW)) {
        const [name = '', parentURL] = JSON.parse(
          decodeURIComponent(specifier.slice(ROW.length)),
        ) as string[]
        const parent = CORE.test(name) ? own : parentURL
        return next(name, { ...context, parentURL: parent })
      }
      if (CORE.test(specifier)) {
        return once(specifier, () => next(specifier, { ...context, parentURL: own }))
      }
      if (CONTAINER.test(specifier)) {
        return once(specifier, () => next(specifier, { ...context, parentURL: kernel }))
      }
      if (!SCHEMAS.test(specifier)) return next(specifier, context)
      try {
        return next(specifier, context)
      } catch {
        // A plugin that brings none shares the one of the core: schemas of any copy are read alike.
        return next(specifier, { ...context, parentURL: kernel })
      }
    },
  })
}

/** The URL of `name` as an import in `file` resolves it; throws as that import would. */
export function resolveFrom(name: string, file: string): string {
  register()
  const request = JSON.stringify([name, pathToFileURL(file).href])
  // `import.meta.resolve` takes no parent, so the hook is told which one is meant.
  return import.meta.resolve(ROW + encodeURIComponent(request))
}
