import { cli } from './broken.ts'
import type { Broken } from './broken.ts'
import type { PluginName } from './plugins.ts'

const FINE = `- insert:
    - { id: fine, name: 'PLUGINS/fine.mjs' }
`
const optional = (id: string, name: string, more = '') =>
  `    - { id: ${id}, name: '${name}', optional: true${more} }\n`
const module = (name: PluginName) => `PLUGINS/${name}.mjs`

/** An optional row of a broken module: it is taken out and named, and the others run. */
function quarantined(name: PluginName, words: string): Broken {
  return {
    title: `an optional row that is "${name}"`,
    layers: { bundle: FINE + optional('theirs', module(name)) },
    expect: { exit: 0, culprits: [['theirs', 'quarantined', 'bundle.yml:3', words]] },
  }
}

function refused(
  title: string,
  name: string,
  state: 'quarantined' | 'skipped',
  words: string,
  more?: string,
): Broken {
  const layers = { bundle: FINE, home: `- insert:\n${optional('theirs', name, more)}` }
  return { title, layers, expect: { exit: 0, culprits: [['theirs', state, 'home.yml:2', words]] } }
}

/** Compositions of which the harness boots without the culprit. */
export const boots: readonly Broken[] = [
  cli(quarantined('throws', 'no luck')),
  quarantined('rejects', 'the port is taken'),
  quarantined('throws-nothing', 'undefined'),
  quarantined('throws-text', 'just text'),
  quarantined('throws-escapes', 'red'),
  quarantined('throws-lines', 'first'),
  quarantined('throws-trap', 'cannot be read'),
  quarantined('throws-no-text', 'cannot be read'),
  quarantined('imports-trap', 'cannot be read'),
  quarantined('imports-nothing', 'cannot be read'),
  quarantined('check-throws-trap', 'cannot be read'),
  quarantined('constructor-throws', 'not built'),
  cli(quarantined('throws-on-import', 'no native binding')),
  quarantined('not-javascript', 'cannot be loaded'),
  quarantined('imports-missing', '@gone/dependency'),
  quarantined('never-imported', 'did not import within'),
  quarantined('hangs', 'did not become active within'),
  quarantined('no-default', 'exports no plugin'),
  quarantined('check-throws', 'bad schema'),
  quarantined('check-hangs', 'did not check its config within'),
  quarantined('schema-is-text', 'cannot be checked'),
  quarantined('checks-port', 'expected a port'),
  quarantined('inject-is-number', 'exports no plugin'),
  cli(
    refused(
      'an optional package that is not installed',
      '@gone/tool',
      'quarantined',
      'not installed',
    ),
  ),
  refused('an optional package for another api', 'api@^2', 'skipped', 'asks for api ^2'),
  refused(
    'an optional package with an api that is no range',
    'api@new',
    'skipped',
    'which is none',
  ),
  refused(
    'an optional row whose variable is not set',
    'plugin',
    'quarantined',
    'NOPE',
    ', config: { k: !env NOPE }',
  ),
  {
    title: 'an optional provider that fails, with an optional row behind it',
    layers: {
      bundle:
        FINE +
        optional('gives', module('gives-a-and-throws')) +
        optional('needs', module('needs-a')),
    },
    expect: {
      exit: 0,
      culprits: [
        ['gives', 'quarantined', 'bundle.yml:3', 'half'],
        ['needs', 'waiting', 'bundle.yml:4', 'ctx.corpusA'],
      ],
    },
  },
  {
    title: 'an optional second provider, which gives way',
    layers: {
      bundle:
        FINE +
        optional('second', module('gives-a-too')) +
        `    - { id: first, name: '${module('gives-a')}' }\n`,
    },
    expect: {
      exit: 0,
      culprits: [['second', 'quarantined', 'bundle.yml:3', 'already provided by the row "first"']],
    },
  },
  {
    title: 'optional rows that need each other',
    layers: {
      bundle:
        FINE + optional('a', module('gives-a-needs-b')) + optional('b', module('gives-b-needs-a')),
    },
    expect: {
      exit: 0,
      culprits: [
        ['a', 'waiting', 'bundle.yml:3', 'ctx.corpusB'],
        ['b', 'waiting', 'bundle.yml:4', 'ctx.corpusA'],
      ],
    },
  },
  {
    title: 'a row that a person disabled',
    layers: {
      bundle: FINE + optional('theirs', module('throws')),
      home: '- { id: theirs, disabled: true }\n',
    },
    expect: { exit: 0, culprits: [['theirs', 'disabled', 'home.yml:1', 'disabled at home.yml:1']] },
  },
  {
    title: 'a row that does not stop',
    layers: { bundle: FINE + optional('theirs', module('hangs-on-close')) },
    expect: { exit: 0, culprits: [], hung: ['theirs'] },
  },
  {
    title: 'a row that throws when it stops',
    layers: { bundle: FINE + optional('theirs', module('throws-on-close')) },
    expect: { exit: 0, culprits: [] },
  },
  {
    title: 'a row whose activation gives back nonsense',
    layers: { bundle: FINE + optional('theirs', module('returns-junk')) },
    expect: { exit: 0, culprits: [] },
  },
  {
    title: 'three broken rows beside one that is not',
    layers: {
      bundle:
        FINE +
        optional('one', module('throws')) +
        optional('two', '@gone/tool') +
        optional('three', module('hangs')),
    },
    expect: {
      exit: 0,
      culprits: [
        ['one', 'quarantined', 'bundle.yml:3', 'no luck'],
        ['two', 'quarantined', 'bundle.yml:4', 'not installed'],
        ['three', 'quarantined', 'bundle.yml:5', 'did not become active'],
      ],
    },
    cli: true,
  },
]
