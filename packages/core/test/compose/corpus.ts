import type { LayerKind, ProblemCode } from '../../src/compose/index.ts'

interface Broken {
  title: string
  layers: Partial<Record<LayerKind, string>>
  /** Each problem in order: its code, its place, and words of its message or hint. */
  expect: readonly (readonly [code: ProblemCode, place: string, words: string])[]
}

const ROWS = `- insert:
    - id: tool-bash
      name: '@cordage/tool-bash'
    - id: policy-retry
      name: '@cordage/policy-retry'
      config: { maxRetries: 2 }
`
const STANDARD = '- preset: standard\n  rows: [{ id: tool-write, name: w }]\n'

/** Compositions as people break them; a layer's file is `<kind>.yml`. */
export const corpus: readonly Broken[] = [
  one('tabs for indentation', '- id: a\n\tdisabled: true\n', 'YAML_INVALID', 2, 'spaces'),
  one('a key twice', '- id: a\n  disabled: true\n  disabled: false\n', 'YAML_INVALID', 3, 'unique'),
  one('two documents', '- id: a\n---\n- id: b\n', 'YAML_INVALID', 2, 'several YAML documents'),
  one('a mapping on top', 'insert: []\n', 'YAML_INVALID', 1, 'list of operations'),
  one('text on top', 'hello\n', 'YAML_INVALID', 1, 'Start each operation with "- "'),
  one('an unknown tag', '- id: !foo a\n', 'YAML_INVALID', 1, '!foo'),
  one('code in a tag', row('config: { k: !!js "process.exit(1)" }'), 'YAML_INVALID', 4, '!!js'),
  one('a set', row('config: { k: !!set { a, b } }'), 'YAML_INVALID', 4, '!!set'),
  one(
    '!env on a mapping',
    row('config: { k: !env { A: 1 } }'),
    'YAML_INVALID',
    4,
    'one plain value',
  ),
  one('!env without a name', row('config:\n        k: !env'), 'YAML_INVALID', 5, 'NAME'),
  one('!env with a bad name', row('config: { k: !env 1-2 }'), 'YAML_INVALID', 4, 'NAME'),
  one('!path without a path', row('config:\n        k: !path'), 'YAML_INVALID', 5, 'path'),
  {
    title: 'a comma that splits an unquoted default',
    layers: { bundle: row('config: { k: !env N ?? a,b }') },
    expect: [
      ['YAML_INVALID', 'bundle.yml:4', '!env "N ?? a"'],
      ['YAML_INVALID', 'bundle.yml:4', 'The key "b" has no value'],
    ],
  },
  one(
    'an unquoted default in a list',
    row('config: { k: [!env N ?? a, b] }'),
    'YAML_INVALID',
    4,
    'quotes',
  ),
  one(
    'a key without a value',
    row('config: { a, b: 1 }'),
    'YAML_INVALID',
    4,
    'The key "a" has no value',
  ),
  one('an unquoted glob', row('config:\n        k: *.ts'), 'YAML_INVALID', 5, 'quotes'),
  one('an alias to itself', '- &a [*a]\n', 'YAML_INVALID', 1, '*a'),
  one('an alias bomb', bomb(), 'YAML_INVALID', 1, '20000'),
  one('ten thousand brackets', '['.repeat(10_000), 'YAML_INVALID', 1, ''),
  one('deep nesting', `- ${'['.repeat(80)}${']'.repeat(80)}\n`, 'YAML_INVALID', 1, '64 levels'),
  one('__proto__ as a key', row('config: { __proto__: { a: 1 } }'), 'YAML_INVALID', 4, '__proto__'),
  one('a merge key', row('config: { <<: { a: 1 } }'), 'YAML_INVALID', 4, '<<'),
  one('a mapping as a key', '- ? { a: 1 }\n  : b\n', 'YAML_INVALID', 1, 'not a string'),
  one(
    'a number that loses digits',
    row('config: { k: 12345678901234567890 }'),
    'YAML_INVALID',
    4,
    'quotes',
  ),
  one('YAML 1.1', '%YAML 1.1\n---\n- id: a\n', 'YAML_INVALID', 1, 'YAML 1.2'),
  one('a reserved character', row('config:\n        k: @foo'), 'YAML_INVALID', 5, 'quotes'),
  one('text as an operation', '- hello\n', 'OPERATION_INVALID', 1, 'the string "hello"'),
  one('an operation of nothing', '- {}\n', 'OPERATION_INVALID', 1, 'none of'),
  {
    title: 'a misspelled operation',
    layers: { bundle: '- inser: []\n' },
    expect: [
      ['KEY_UNKNOWN', 'bundle.yml:1', 'Did you mean insert?'],
      ['OPERATION_INVALID', 'bundle.yml:1', 'none of'],
    ],
  },
  one('rows that are no list', '- insert: { id: a }\n', 'OPERATION_INVALID', 1, 'a mapping'),
  one('a row that is text', '- insert: [a]\n', 'OPERATION_INVALID', 1, 'the string "a"'),
  one('a misspelled key of a row', row('confg: {}'), 'KEY_UNKNOWN', 4, 'Did you mean config?'),
  one('a row without a name', '- insert: [{ id: a }]\n', 'ROW_INVALID', 1, 'no "name"'),
  one('a row without an id', '- insert: [{ name: a }]\n', 'ROW_INVALID', 1, 'no "id"'),
  one('an id with capitals', '- insert: [{ id: Bash, name: a }]\n', 'ROW_INVALID', 1, '"Bash"'),
  one(
    'a name that is a reference',
    '- insert: [{ id: a, name: !env SET }]\n',
    'ROW_INVALID',
    1,
    'a reference',
  ),
  one('config that is empty', row('config:'), 'ROW_INVALID', 4, 'config: {}'),
  one('config that is a list', row('config: [a]'), 'ROW_INVALID', 4, 'a list'),
  one('disabled as a word', row('disabled: yes'), 'ROW_INVALID', 4, 'the string "yes"'),
  one('disabled as a mapping', row('disabled: { when: x }'), 'ROW_INVALID', 4, 'a mapping'),
  one('disabled as a reference', row('disabled: !env SET'), 'ROW_INVALID', 4, 'true or false'),
  one(
    'an unset variable',
    row('config:\n        deep:\n          k: !env NOPE'),
    'ENV_UNSET',
    6,
    'NOPE',
  ),
  two(
    'config together with merge',
    '- id: tool-bash\n  config: {}\n  merge: {}\n',
    'OPERATION_INVALID',
    1,
    'both',
  ),
  two('a patch of nothing', '- id: tool-bash\n', 'OPERATION_INVALID', 1, 'nothing is changed'),
  two(
    'remove with a change',
    '- id: tool-bash\n  remove: true\n  config: {}\n',
    'OPERATION_INVALID',
    1,
    'one of the two',
  ),
  two(
    'an unknown id',
    '- id: policy-rety\n  disabled: true\n',
    'ROW_UNKNOWN',
    1,
    'Did you mean policy-retry?',
  ),
  two(
    'an id without its prefix',
    '- id: bash\n  disabled: true\n',
    'ROW_UNKNOWN',
    1,
    'Did you mean tool-bash?',
  ),
  two(
    'an id like nothing known',
    '- id: zzz\n  disabled: true\n',
    'ROW_UNKNOWN',
    1,
    'insert: [...]',
  ),
  two(
    'a row inserted twice',
    ROWS.split('    - id: policy')[0]!,
    'ROW_DUPLICATE',
    2,
    'bundle.yml:2',
  ),
  two(
    'a removed row',
    '- { id: tool-bash, remove: true }\n- { id: tool-bash, disabled: true }\n',
    'ROW_UNKNOWN',
    2,
    'overlay.yml:1',
  ),
  two(
    'a row that is inserted later',
    '- { id: late, disabled: true }\n- insert: [{ id: late, name: x }]\n',
    'ROW_UNKNOWN',
    1,
    'overlay.yml:2',
  ),
  two(
    'the name of a row changed',
    '- id: tool-bash\n  name: other\n  disabled: true\n',
    'KEY_UNKNOWN',
    2,
    'name',
  ),
  two(
    'profiles in an overlay',
    '- { id: tool-bash, disabled: true, profiles: [tui] }\n',
    'OPERATION_INVALID',
    1,
    'home layer',
  ),
  two(
    'a known foreign id in an overlay',
    '- { id: frontend-web, disabled: true }\n',
    'ROW_UNKNOWN',
    1,
    'frontend-web',
  ),
  two(
    'a preset without rows that are a list',
    '- { preset: p, rows: tool-bash }\n',
    'OPERATION_INVALID',
    1,
    'list of rows',
  ),
  two(
    'a preset that extends nothing known',
    '- { preset: p, extends: standrd }\n- preset: standard\n',
    'PRESET_UNKNOWN',
    1,
    'Did you mean standard?',
  ),
  two(
    'presets in a ring',
    '- { preset: a, extends: b }\n- { preset: b, extends: a }\n',
    'PRESET_CYCLE',
    2,
    'a -> b -> a',
  ),
  two(
    'an unknown row in a preset',
    `${STANDARD}- { preset: standard, rows: [{ id: tool-rite, remove: true }] }\n`,
    'ROW_UNKNOWN',
    3,
    'Did you mean tool-write?',
  ),
  two(
    'a row of the composition in a preset',
    `${STANDARD}- { preset: standard, rows: [{ id: tool-bash, remove: true }] }\n`,
    'ROW_UNKNOWN',
    3,
    'outside of this preset',
  ),
  two(
    'a row twice in a preset',
    `${STANDARD}- { preset: p, extends: standard, rows: [{ id: tool-write, name: w }] }\n`,
    'ROW_DUPLICATE',
    3,
    'overlay.yml:2',
  ),
  {
    title: 'profiles without a name',
    layers: { bundle: ROWS, home: '- { id: tool-bash, disabled: true, profiles: [] }\n' },
    expect: [['OPERATION_INVALID', 'home.yml:1', 'profiles: [headless]']],
  },
  {
    title: 'a layer that cannot be read, whose rows are not reported as unknown too',
    layers: { bundle: `${ROWS}- !nope\n`, overlay: '- id: tool-bash\n  disabled: true\n' },
    expect: [['YAML_INVALID', 'bundle.yml:7', '!nope']],
  },
]

function one(title: string, text: string, code: ProblemCode, line: number, words: string): Broken {
  return { title, layers: { bundle: text }, expect: [[code, `bundle.yml:${line}`, words]] }
}

function two(title: string, text: string, code: ProblemCode, line: number, words: string): Broken {
  const layers = { bundle: ROWS, overlay: text }
  return { title, layers, expect: [[code, `overlay.yml:${line}`, words]] }
}

// One row whose fourth line is the given one.
function row(line: string): string {
  return `- insert:\n    - id: row\n      name: plugin\n      ${line}\n`
}

function bomb(): string {
  const lines = ['- &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 8; i++) lines.push(`- &a${i} [${`*a${i - 1}, `.repeat(10)}]`)
  return `${lines.join('\n')}\n`
}
