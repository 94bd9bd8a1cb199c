import { pathToFileURL } from 'node:url'
import { isAbsolute } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compose, createComposer, problemsOf } from '../../src/compose/index.ts'
import type {
  Composition,
  LayerKind,
  LayerSource,
  Loader,
  Problem,
} from '../../src/compose/index.ts'
import { toExitCode } from '../../src/error/index.ts'
import { createRoot } from '../../src/kernel/index.ts'
import type { Broken } from './corpus/broken.ts'
import { corpus } from './corpus/corpus.ts'
import { writePlugins } from './corpus/plugins.ts'
import type { Plugins } from './corpus/plugins.ts'

let plugins: Plugins
// Imported once, since compiling a module is not what the limits of rows are about.
const modules = new Map<string, Promise<{ default?: unknown }>>()

beforeAll(async () => {
  plugins = await writePlugins()
  for (const file of plugins.files) {
    modules.set(file, import(pathToFileURL(file).href) as Promise<{ default?: unknown }>)
  }
  await Promise.allSettled(modules.values())
})
afterAll(() => plugins[Symbol.asyncDispose]())

// Names that are no file of the corpus are packages that take any configuration.
const loader: Loader = {
  async load(name, from) {
    if (name.startsWith('@gone/')) {
      const error = new Error(`Cannot find package '${name}' imported from ${from}`)
      throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
    }
    if (!isAbsolute(name)) return { plugin: { apply() {} }, file: name, ...apiOf(name) }
    const module = await (modules.get(name) ?? new Promise<never>(() => {}))
    return { plugin: module.default ?? module, file: name }
  },
}

// `api@^2` is a package with that range.
function apiOf(name: string): { api?: string } {
  const [, api] = /^api@(.*)$/.exec(name) ?? []
  return api === undefined ? {} : { api }
}

describe('broken compositions', () => {
  test('are a hundred at least, ten of them for the command line', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(100)
    expect(corpus.filter(({ cli }) => cli).length).toBeGreaterThanOrEqual(10)
    expect(new Set(corpus.map(({ title }) => title)).size).toBe(corpus.length)
  })

  for (const broken of corpus) {
    test(broken.title, async () => {
      const root = createRoot({ log: () => {} })
      const composer = createComposer(root, loader, { rowTimeoutMs: 250 })
      const error = await composer.apply(compositionOf(broken)).catch((reason: unknown) => reason)
      const reports = composer.report()
      const { hung } = await composer.close()
      const { expect: expected } = broken
      if (expected.exit === 78) {
        expectProblems(problemsOf(error), expected.problems)
        expect(toExitCode(error)).toBe(78)
        return
      }
      expect(error).not.toBeInstanceOf(Error)
      const culprits = reports.filter(({ state }) => state !== 'active')
      const found = culprits.map(({ id, state, file, line }) => [id, state, `${file}:${line}`])
      expect(found).toEqual(expected.culprits.map((culprit) => culprit.slice(0, 3)))
      expected.culprits.forEach(([, , , words], i) => expect(culprits[i]!.reason).toContain(words))
      expect(hung).toEqual(expected.hung ?? [])
    })
  }

  test('report every problem of every layer at once', () => {
    const { problems } = compositionOf({
      title: '',
      layers: {
        bundle: '- insert: [{ id: a, name: x }]\n- id: b\n  disabled: true\n',
        home: '- id: a\n  disabled: yes\n- id: c\n  remove: true\n',
      },
      expect: { exit: 78, problems: [] },
    })
    expectProblems(problems, [
      ['ROW_UNKNOWN', 'bundle.yml:2', '', 'b'],
      ['ROW_INVALID', 'home.yml:2', '', 'a'],
      ['ROW_UNKNOWN', 'home.yml:3', '', 'c'],
    ])
  })
})

function compositionOf({ layers, preset }: Broken): Composition {
  const sources = Object.entries(layers).map(([kind, text]): LayerSource => ({
    kind: kind as LayerKind,
    name: kind,
    file: `${kind}.yml`,
    text: text.replaceAll('PLUGINS', plugins.folder),
  }))
  return compose(sources, {
    profile: 'headless',
    preset,
    env: { SET: 'yes' },
    knownRows: ['frontend-web'],
  })
}

function expectProblems(
  problems: readonly Problem[],
  expected: (Broken['expect'] & { exit: 78 })['problems'],
): void {
  const found = problems.map(({ code, file, line, row }) => [code, `${file}:${line}`, row])
  expect(found).toEqual(expected.map(([code, place, , row]) => [code, place, row]))
  expected.forEach(([, , words], i) => {
    const { message, hint = '' } = problems[i]!
    expect(`${message} ${hint}`).toContain(words)
  })
}
