import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const schema = (validate: string) =>
  `{ '~standard': { version: 1, vendor: 'x', validate: ${validate} } }`

/** An error that cannot be read. */
const TRAP = `const trap = new Error('x')
Object.defineProperty(trap, 'message', { get() { throw new Error('trapped') } })
`

/** Third-party modules, each broken in its own way; plain ones, so that they need no package. */
const SOURCES = {
  fine: 'export default { apply() {} }',
  throws: 'export default { apply() { throw new TypeError("no luck") } }',
  rejects: 'export default { apply: () => Promise.reject(new Error("the port is taken")) }',
  'throws-nothing': 'export default { apply() { throw undefined } }',
  'throws-text': 'export default { apply() { throw "just text" } }',
  'throws-escapes': String.raw`export default { apply() { throw new Error("\u001b[31mred\u0007") } }`,
  'throws-lines': String.raw`export default { apply() { throw new Error("first\nsecond\nthird") } }`,
  'imports-trap': `${TRAP}throw trap`,
  'imports-nothing': 'throw Object.create(null)',
  'check-throws-trap': `${TRAP}export default { apply() {}, Config: ${schema('() => { throw trap }')} }`,
  'check-rejects-nothing': `export default { apply() {}, Config: ${schema('async () => { throw Object.create(null) }')} }`,
  'throws-no-text': 'export default { apply() { throw Object.create(null) } }',
  'throws-trap': `${TRAP}export default { apply() { throw trap } }`,
  hangs: 'export default { apply: () => new Promise(() => {}) }',
  'hangs-on-close': 'export default { apply: () => () => new Promise(() => {}) }',
  'throws-on-close': 'export default { apply: () => () => { throw new Error("stuck") } }',
  'returns-junk': 'export default { apply: () => 42 }',
  'constructor-throws': 'export default class { constructor() { throw new Error("not built") } }',
  'no-default': 'export const answer = 42',
  'exports-text': 'export default "plugin"',
  'exports-null': 'export default null',
  'apply-is-text': 'export default { apply: "later" }',
  'not-javascript': 'export default {',
  'throws-on-import': 'throw new Error("no native binding")',
  'imports-missing': 'import "@gone/dependency"\nexport default { apply() {} }',
  'never-imported': 'await new Promise(() => {})\nexport default { apply() {} }',
  'needs-a': 'export default { inject: ["corpusA"], provides: [], apply() {} }',
  'gives-a': 'export default { provides: ["corpusA"], apply(ctx) { ctx.provide("corpusA", {}) } }',
  'gives-a-too':
    'export default { provides: ["corpusA"], apply(ctx) { ctx.provide("corpusA", {}) } }',
  'gives-a-secretly': 'export default { apply(ctx) { ctx.provide("corpusA", {}) } }',
  'gives-a-and-throws':
    'export default { provides: ["corpusA"], apply(ctx) { ctx.provide("corpusA", {}); throw new Error("half") } }',
  'gives-a-needs-b':
    'export default { provides: ["corpusA"], inject: ["corpusB"], apply(ctx) { ctx.provide("corpusA", {}) } }',
  'gives-b-needs-a':
    'export default { provides: ["corpusB"], inject: ["corpusA"], apply(ctx) { ctx.provide("corpusB", {}) } }',
  'checks-port': `export default { apply() {}, Config: ${schema(`(value) => Number.isInteger(value.port)
  ? { value } : { issues: [{ message: 'expected a port', path: ['server', 'port'] }] }`)} }`,
  'check-throws': `export default { apply() {}, Config: ${schema('() => { throw new Error("bad schema") }')} }`,
  'check-hangs': `export default { apply() {}, Config: ${schema('() => new Promise(() => {})')} }`,
  'schema-is-text': 'export default { apply() {}, Config: "port: number" }',
  'inject-is-number': 'export default { inject: 5, apply() {} }',
} as const

export type PluginName = keyof typeof SOURCES

/** The modules, in a folder that is removed at the end. */
export interface Plugins extends AsyncDisposable {
  readonly folder: string
  /** Those whose import comes to an end, whichever it is. */
  readonly files: readonly string[]
}

export async function writePlugins(): Promise<Plugins> {
  const folder = await mkdtemp(join(tmpdir(), 'cordage-corpus-'))
  const fileOf = (name: string) => join(folder, `${name}.mjs`)
  for (const [name, source] of Object.entries(SOURCES)) await writeFile(fileOf(name), source)
  const names = Object.keys(SOURCES).filter((name) => name !== 'never-imported')
  const remove = () => rm(folder, { recursive: true })
  return { folder, files: names.map(fileOf), [Symbol.asyncDispose]: remove }
}
