import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const json = (path: string): Manifest => JSON.parse(read(path)) as Manifest

interface Manifest {
  name: string
  version: string
  license?: string
  private?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

const sources = tracked.filter((path) => /^packages\/.*\/src\/.*\.ts$/.test(path))
const packages = tracked
  .filter((path) => /^(packages|bundles|profiles)\/.*package\.json$/.test(path))
  .map((path) => ({ folder: dirname(path), manifest: json(path) }))

const CORE_ORDER = [
  'search',
  'kernel',
  'error',
  'message',
  'session',
  'store',
  'model',
  'prompt',
  'policy',
  'credential',
  'ledger',
  'environment',
  'tool',
  'command',
  'job',
  'agent',
  'loop',
  'compaction',
  'compose',
]

const GROUP_PREFIX: Record<string, string> = {
  models: 'model-',
  stores: 'store-',
  environments: 'env-',
  tools: 'tool-',
  context: 'context-',
  policies: 'policy-',
  frontends: 'frontend-',
  coordination: '',
  kit: '',
}

/** Every module a source imports, with whether only its types are. */
function importsOf(path: string): { from: string; types: boolean }[] {
  const pattern =
    /(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|import\s*\(\s*'([^']+)'\s*\)|import\s+'([^']+)'/g
  return [...read(path).matchAll(pattern)].map((match) => ({
    from: match[2] ?? match[3] ?? match[4] ?? '',
    types: match[1] !== undefined,
  }))
}

describe('the tree', () => {
  it('has packages exactly two levels deep, named after their folder', () => {
    const wrong = packages.filter(({ folder, manifest }) => {
      const [top, group = '', name] = folder.split('/')
      if (top === 'bundles') return manifest.name !== `@cordage/bundle-${group}`
      if (top === 'profiles') return manifest.name !== `@cordage/profile-${group}`
      if (folder === 'packages/core') return manifest.name !== '@cordage/core'
      if (folder === 'packages/frontends/cli') return manifest.name !== 'cordage'
      return manifest.name !== `@cordage/${GROUP_PREFIX[group]}${name}`
    })
    expect(wrong.map(({ folder }) => folder)).toEqual([])
  })

  it('gives every package one version and the licence', () => {
    const versions = new Set(packages.map(({ manifest }) => manifest.version))
    expect([...versions]).toHaveLength(1)
    expect(packages.filter(({ manifest }) => manifest.license !== 'MIT')).toEqual([])
  })

  it('has no folder or file whose name says nothing', () => {
    const vague = /(^|[/-])(utils?|helpers?|common|shared|types|manager|impl|misc)(\.ts)?(\/|$)/
    expect(sources.filter((path) => vague.test(path))).toEqual([])
  })

  it('keeps sources within 400 lines and 100 columns', () => {
    const long = sources.filter((path) => read(path).split('\n').length > 401)
    const wide = sources.filter((path) =>
      read(path)
        .split('\n')
        .some((line) => line.length > 140),
    )
    expect({ long, wide }).toEqual({ long: [], wide: [] })
  })

  it('pins every third-party dependency exactly', () => {
    const loose = packages.flatMap(({ folder, manifest }) => {
      const all = { ...manifest.dependencies, ...manifest.devDependencies }
      return Object.entries(all)
        .filter(([, range]) => !/^(\d+\.\d+\.\d+[\w.-]*|workspace:\*)$/.test(range))
        .map(([name]) => `${folder}: ${name}`)
    })
    expect(loose).toEqual([])
  })

  it('has nothing left for later in the sources', () => {
    const later = /\b(TODO|FIXME|XXX)\b/
    expect(sources.filter((path) => later.test(read(path)))).toEqual([])
  })
})

describe('imports', () => {
  it('go within core only to folders that come before', () => {
    const wrong = sources
      .filter((path) => path.startsWith('packages/core/src/'))
      .flatMap((path) => {
        const folder = path.split('/')[3] ?? ''
        return importsOf(path)
          .filter(({ from }) => from.startsWith('.'))
          .map(({ from }) =>
            relative(join(root, 'packages/core/src'), resolve(root, dirname(path), from)),
          )
          .map((target) => target.split('/')[0] ?? '')
          .filter((target) => CORE_ORDER.indexOf(target) > CORE_ORDER.indexOf(folder))
          .map((target) => `${path} imports ${target}`)
      })
    expect(wrong).toEqual([])
  })

  it('go from a plugin to core and libraries, never to the value of another plugin', () => {
    const wrong = sources
      .filter((path) => !path.startsWith('packages/core/'))
      .flatMap((path) =>
        importsOf(path)
          .filter(({ from, types }) => !types && /^@cordage\/(?!core)/.test(from))
          .map(({ from }) => `${path} imports ${from}`),
      )
      .filter((line) => !line.startsWith('packages/kit/'))
    expect(wrong).toEqual([])
  })

  it('name the container in the kernel only', () => {
    const wrong = sources.filter(
      (path) =>
        !path.startsWith('packages/core/src/kernel/') &&
        importsOf(path).some(({ from }) => from === 'cordis'),
    )
    expect(wrong).toEqual([])
  })

  it('reach files, processes and the network only where effects live', () => {
    const allowed = /^packages\/(environments|stores|models|frontends|kit)\//
    const effects =
      /^node:(fs|fs\/promises|child_process|net|http|https|http2|dgram|tls|worker_threads)$/
    const wrong = sources
      .filter((path) => !allowed.test(path))
      .filter(
        (path) =>
          importsOf(path).some(({ from, types }) => !types && effects.test(from)) ||
          /(^|[^.\w'])fetch\(/m.test(read(path)),
      )
    expect(wrong).toEqual([])
  })

  it('read no environment variable inside a plugin', () => {
    const wrong = sources
      .filter((path) => !/^packages\/(frontends\/cli|kit)\//.test(path))
      .filter((path) => /process\.env\b/.test(read(path)))
    expect(wrong).toEqual([])
  })

  it('are declared by the package that makes them', () => {
    const wrong = sources.flatMap((path) => {
      const owner = packages.find(({ folder }) => path.startsWith(`${folder}/`))
      const known = {
        ...owner?.manifest.dependencies,
        ...owner?.manifest.peerDependencies,
        ...owner?.manifest.devDependencies,
      }
      return importsOf(path)
        .filter(({ from }) => !from.startsWith('.') && !from.startsWith('node:'))
        .map(({ from }) =>
          from
            .split('/')
            .slice(0, from.startsWith('@') ? 2 : 1)
            .join('/'),
        )
        .filter((name) => name !== owner?.manifest.name && !(name in known))
        .map((name) => `${path} imports ${name}`)
    })
    expect(wrong).toEqual([])
  })
})

describe('error codes', () => {
  const declared = sources
    .filter((path) => read(path).includes('defineErrors('))
    .flatMap((path) =>
      [...read(path).matchAll(/^\s{2}([A-Z][A-Z0-9_]+): \{/gm)].map((match) => ({
        code: match[1] ?? '',
        path,
      })),
    )

  it('belong to one table each', () => {
    const seen = new Map<string, string>()
    const twice = declared.filter(({ code, path }) => {
      const other = seen.get(code)
      seen.set(code, path)
      return other !== undefined
    })
    expect(twice).toEqual([])
  })

  it('are thrown somewhere and listed for people', () => {
    const everything = sources.map(read).join('\n')
    const page = read('docs/reference/errors.md')
    const unused = declared.filter(({ code }) => everything.split(`'${code}'`).length < 2)
    const unlisted = declared.filter(({ code }) => !page.includes(`\`${code}\``))
    expect({ unused, unlisted }).toEqual({ unused: [], unlisted: [] })
  })

  it('are the only errors: no bare Error is thrown but by the kits of tests', () => {
    const wrong = sources
      .filter((path) => !path.startsWith('packages/kit/'))
      .filter((path) => /throw new Error\(/.test(read(path)))
    expect(wrong).toEqual([])
  })
})

describe('folders', () => {
  it('are made one level at a time: `recursive` never returns below a path such as /proc', () => {
    const wrong = sources.filter((path) => /mkdir(Sync)?\([^)]*recursive/.test(read(path)))
    expect(wrong).toEqual([])
  })
})

describe('tests', () => {
  const tests = tracked.filter((path) => /(^|\/)test\/(?!bench\/).*\.ts$/.test(path))

  it('never measure time: a limit of vitest says what must not hang', () => {
    const measured = /performance\.now|hrtime|Date\.now\(\)\s*-\s*[a-z]|-\s*Date\.now\(\)/
    const wrong = tests.filter((path) => path !== 'test/tidy.test.ts' && measured.test(read(path)))
    expect(wrong).toEqual([])
  })

  it('skip for want of a tool through `needs` only, so that they fail where CI=true', () => {
    const skips = /\.skip\(|\.skipIf\(|\bskip\(|env\['CI'\]/
    // The seed of properties is fixed in CI, and skips nothing.
    const fixture = ['test/fixture/needs.ts', 'test/fixture/property-seed.ts']
    const allowed = [...fixture, 'test/tidy.test.ts']
    const wrong = tests.filter((path) => !allowed.includes(path) && skips.test(read(path)))
    expect(wrong).toEqual([])
  })

  it('register no hook in a module that several of them share', () => {
    // With `isolate: false` such a module runs once, and only its first importer would have it.
    const wrong = tests
      .filter((path) => !path.endsWith('.test.ts'))
      .filter((path) => /^(before|after)(Each|All)\(/m.test(read(path)))
    expect(wrong).toEqual([])
  })
})

describe('rows of bundles', () => {
  const folders = readdirSync(join(root, 'bundles')).filter((name) =>
    statSync(join(root, 'bundles', name)).isDirectory(),
  )

  it.each(folders)('of %s come from packages that the bundle depends on', (name) => {
    const layer = parse(read(`bundles/${name}/cordis.patch.yml`), { logLevel: 'silent' }) as unknown
    const text = JSON.stringify(layer)
    const named = [...text.matchAll(/"name":"(@?[^"/]+(?:\/[^"/]+)?)[^"]*"/g)].map(
      (match) => match[1] ?? '',
    )
    const { dependencies = {}, peerDependencies = {} } = json(`bundles/${name}/package.json`)
    const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])
    expect(named.filter((row) => row.startsWith('@') && !known.has(row))).toEqual([])
  })
})

describe('documents', () => {
  const pages = tracked.filter((path) => path.endsWith('.md'))

  it('link to files that exist', () => {
    const broken = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)]
        .map((match) => join(dirname(path), match[1] ?? ''))
        .filter((target) => !existsSync(join(root, target)))
        .map((target) => `${path} -> ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('stay short: READMEs of packages 80 lines, decisions 60, the architecture 1,800 words', () => {
    const lines = (path: string) => read(path).split('\n').length
    const long = pages.filter(
      (path) =>
        (/^packages\/.*README\.md$/.test(path) && lines(path) > 81) ||
        (path.startsWith('docs/decisions/') && lines(path) > 61),
    )
    const words = read('docs/architecture.md').split(/\s+/).length
    expect(long).toEqual([])
    expect(words).toBeLessThanOrEqual(1800)
  })

  it('begin the README with the two commands and nothing else', () => {
    const block = /```\w*\n([\s\S]*?)```/.exec(read('README.md'))?.[1]
    expect(block).toBe('npm start\nnpm test\n')
  })
})
