import { one, row } from './broken.ts'
import type { Broken } from './broken.ts'

/** Layers that cannot be read, or that YAML would bend. */
export const yaml: readonly Broken[] = [
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
    expect: {
      exit: 78,
      problems: [
        ['YAML_INVALID', 'bundle.yml:4', '!env "N ?? a"'],
        ['YAML_INVALID', 'bundle.yml:4', 'The key "b" has no value'],
      ],
    },
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
  one('a bracket that is not closed', row('config: { maxRetries: 2'), 'YAML_INVALID', 5, ''),
  one(
    'a quote that is not closed',
    "- id: 'tool-bash\n  disabled: true\n",
    'YAML_INVALID',
    3,
    'quote',
  ),
  one('a file that is half written', '- id: policy-retry\n  conf', 'YAML_INVALID', 2, ''),
  {
    title: 'markers of a merge conflict',
    layers: { bundle: '<<<<<<< HEAD\n- id: a\n=======\n' },
    expect: {
      exit: 78,
      problems: [
        ['YAML_INVALID', 'bundle.yml:1', ''],
        ['YAML_INVALID', 'bundle.yml:3', ''],
      ],
    },
  },
  one(
    'a page of HTML',
    '<!doctype html>\n<html></html>\n',
    'YAML_INVALID',
    1,
    'list of operations',
  ),
  one('text in another encoding', '-\u0000 \u0000i\u0000d\u0000', 'YAML_INVALID', 1, ''),
  one('JSON of the wrong shape', '{ "insert": [] }', 'YAML_INVALID', 1, 'list of operations'),
  one('a list below a key that is not indented', row('config:\n    a: 1'), 'YAML_INVALID', 4, ''),
  one('an alias without an anchor', row('config: { a: *nowhere }'), 'YAML_INVALID', 4, '*nowhere'),
  one('a value after a value', row('disabled: true false: 1'), 'YAML_INVALID', 4, ''),
]

function bomb(): string {
  const lines = ['- &a0 [x, x, x, x, x, x, x, x, x, x]']
  for (let i = 1; i < 8; i++) lines.push(`- &a${i} [${`*a${i - 1}, `.repeat(10)}]`)
  return `${lines.join('\n')}\n`
}
