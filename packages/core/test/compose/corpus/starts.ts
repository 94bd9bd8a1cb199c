import { cli, one } from './broken.ts'
import type { Broken } from './broken.ts'
import type { PluginName } from './plugins.ts'
import type { ProblemCode } from '../../../src/compose/index.ts'

const rows = (...list: string[]) => `- insert:\n${list.map((text) => `    - ${text}\n`).join('')}`
const plugin = (name: PluginName, id: string = name) => `{ id: ${id}, name: 'PLUGINS/${name}.mjs' }`

/** One required row whose module is the given one. */
function required(name: PluginName, code: ProblemCode, words: string): Broken {
  return one(`a required row that is "${name}"`, rows(plugin(name)), code, 2, words, name)
}

const MISSING = rows("{ id: row, name: '@gone/tool' }")

/** Compositions that are sound until their modules are imported, checked or started. */
export const starts: readonly Broken[] = [
  cli(one('a package that is not installed', MISSING, 'PACKAGE_MISSING', 2, 'Install it', 'row')),
  one(
    'an api that is newer',
    rows("{ id: row, name: 'api@^2' }"),
    'API_INCOMPATIBLE',
    2,
    'has api 1',
    'row',
  ),
  one(
    'an api that is no range',
    rows("{ id: row, name: 'api@new' }"),
    'API_INCOMPATIBLE',
    2,
    'which is none',
    'row',
  ),
  required('no-default', 'PACKAGE_INVALID', 'exports no plugin'),
  required('exports-text', 'PACKAGE_INVALID', 'default export'),
  required('exports-null', 'PACKAGE_INVALID', 'default export'),
  required('apply-is-text', 'PACKAGE_INVALID', 'exports no plugin'),
  required('not-javascript', 'PACKAGE_INVALID', 'cannot be loaded'),
  cli(required('throws-on-import', 'PACKAGE_INVALID', 'no native binding')),
  required('never-imported', 'PACKAGE_INVALID', 'did not import within'),
  cli(required('throws', 'ROW_FAILED', 'no luck')),
  required('rejects', 'ROW_FAILED', 'the port is taken'),
  required('throws-nothing', 'ROW_FAILED', 'undefined'),
  required('throws-text', 'ROW_FAILED', 'just text'),
  required('throws-lines', 'ROW_FAILED', 'first'),
  required('throws-trap', 'ROW_FAILED', 'cannot be read'),
  required('throws-no-text', 'ROW_FAILED', 'cannot be read'),
  required('imports-trap', 'PACKAGE_INVALID', 'cannot be read'),
  required('imports-nothing', 'PACKAGE_INVALID', 'cannot be read'),
  required('check-throws-trap', 'CONFIG_INVALID', 'cannot be read'),
  required('check-rejects-nothing', 'CONFIG_INVALID', 'cannot be read'),
  required('throws-escapes', 'ROW_FAILED', String.raw`\x1b[31mred`),
  required('constructor-throws', 'ROW_FAILED', 'not built'),
  required('hangs', 'ROW_FAILED', 'did not become active within'),
  required('check-throws', 'CONFIG_INVALID', 'bad schema'),
  required('check-hangs', 'CONFIG_INVALID', 'did not check its config within'),
  required('schema-is-text', 'CONFIG_INVALID', 'cannot be checked'),
  cli(required('needs-a', 'SERVICE_MISSING', 'Add a row that provides it')),
  {
    title: 'a value of the wrong kind, placed at its line',
    layers: {
      bundle: `- insert:
    - id: web
      name: 'PLUGINS/checks-port.mjs'
      config:
        server:
          host: localhost
          port: many
`,
    },
    expect: { exit: 78, problems: [['CONFIG_INVALID', 'bundle.yml:7', 'expected a port', 'web']] },
    cli: true,
  },
  {
    title: 'a value of the wrong kind that an overlay brings',
    layers: {
      bundle: rows("{ id: web, name: 'PLUGINS/checks-port.mjs', config: { port: 1 } }"),
      overlay: '- id: web\n  merge:\n    port: many\n    server: { port: 2 }\n',
    },
    expect: { exit: 78, problems: [['CONFIG_INVALID', 'overlay.yml:4', 'expected a port', 'web']] },
    cli: true,
  },
  {
    title: 'a provider that is disabled by a layer above',
    layers: {
      bundle: rows(plugin('gives-a'), plugin('needs-a')),
      home: '- { id: gives-a, disabled: true }\n',
    },
    expect: {
      exit: 78,
      problems: [
        [
          'SERVICE_MISSING',
          'bundle.yml:3',
          '"gives-a" would, but it is disabled at home.yml:1',
          'needs-a',
        ],
      ],
    },
  },
  one(
    'a provider in a preset',
    `- preset: p\n  rows: [${plugin('gives-a')}]\n`,
    'SERVICE_IN_PRESET',
    2,
    'for everybody',
    'gives-a',
  ),
  one(
    'two providers',
    rows(plugin('gives-a'), plugin('gives-a-too')),
    'SERVICE_DUPLICATE',
    3,
    'Disable one',
    'gives-a-too',
  ),
  one(
    'a provider twice, the second unsaid',
    rows(plugin('gives-a'), plugin('gives-a-secretly')),
    'ROW_FAILED',
    3,
    'corpusA',
    'gives-a-secretly',
  ),
  one(
    'rows that need each other',
    rows(plugin('gives-a-needs-b'), plugin('gives-b-needs-a')),
    'SERVICE_CYCLE',
    2,
    'gives-a-needs-b -> gives-b-needs-a',
    'gives-a-needs-b',
  ),
  {
    title: 'a required row behind an optional one that fails',
    layers: {
      bundle: rows(
        "{ id: gives-a, name: 'PLUGINS/gives-a-and-throws.mjs', optional: true }",
        plugin('needs-a'),
      ),
    },
    expect: { exit: 78, problems: [['SERVICE_MISSING', 'bundle.yml:3', 'ctx.corpusA', 'needs-a']] },
  },
  {
    title: 'everything at once: a package, a configuration, a service',
    layers: {
      bundle: rows("{ id: gone, name: '@gone/tool' }", plugin('checks-port'), plugin('needs-a')),
    },
    expect: {
      exit: 78,
      problems: [
        ['PACKAGE_MISSING', 'bundle.yml:2', '@gone/tool', 'gone'],
        ['CONFIG_INVALID', 'bundle.yml:3', 'expected a port', 'checks-port'],
      ],
    },
  },
  one(
    'a module of a preset that is broken',
    `- preset: p\n  rows:\n    - ${plugin('throws-on-import')}\n`,
    'PACKAGE_INVALID',
    3,
    'no native binding',
    'throws-on-import',
  ),
  one(
    'a configuration in a preset',
    `- preset: p\n  rows:\n    - ${plugin('checks-port')}\n`,
    'CONFIG_INVALID',
    3,
    'expected a port',
    'checks-port',
  ),
  cli(
    one(
      'a misspelled key beside a module that is there',
      rows("{ id: row, name: 'PLUGINS/fine.mjs', confg: {} }"),
      'KEY_UNKNOWN',
      2,
      'Did you mean config?',
      'row',
    ),
  ),
]
