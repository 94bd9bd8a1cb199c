import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { compose, type LayerSource, type Row } from '@cordage/core/compose'
import { errorTables } from '@cordage/core/error'
import { coreEvents } from '@cordage/core/session'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../packages/frontends/cli/src/program.ts'

type Command = ReturnType<typeof createProgram>

const root = resolve(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The YAML blocks of a page, each with its first line. */
function layersIn(page: string): [title: string, text: string][] {
  const blocks = read(page).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, text = '']) => [text.split('\n')[0] ?? '', text])
}

/** The text below a heading, up to the next one of its level or above. */
function sectionOf(page: string, heading: string): string {
  const level = /^#+/.exec(heading)?.[0].length ?? 0
  const [, rest = ''] = read(page).split(`\n${heading}\n`)
  return rest.split(new RegExp(`^#{1,${level}} `, 'm'))[0] ?? ''
}

/** Cells of every table row whose first cell is code. */
function codeRows(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map((cells) => cells.slice(1, -1))
}

const coded = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? '')

describe('reference/cli.md', () => {
  const page = 'docs/reference/cli.md'
  const program = createProgram('0', () => {})
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)
  const flagsOf = (commands: readonly Command[]) =>
    [...new Set(commands.flatMap(({ options }) => options.map(({ long }) => long ?? '')))].sort()
  const written = (heading: string) =>
    [
      ...new Set(
        codeRows(sectionOf(page, heading)).flatMap(
          ([cell = '']) => cell.match(/--[a-z][a-z-]*/g) ?? [],
        ),
      ),
    ].sort()
  const running = ['run', 'resume', 'continue']

  it('lists the options of every command', () => {
    const known = [...flagsOf([program]), '--help'].sort()
    expect(written('## Options of every command')).toEqual(known)
  })

  it('lists the options of those that run', () => {
    const commands = program.commands.filter((command) => running.includes(command.name()))
    expect(commands).toHaveLength(3)
    expect(written('## Options of `run`, `resume` and `continue`')).toEqual(flagsOf(commands))
  })

  it('lists the options of the others', () => {
    const others = leaves(program).filter((command) => !running.includes(command.name()))
    expect(written('## Options of the others')).toEqual(flagsOf(others))
  })

  it('lists every command and no other', () => {
    const nameOf = (command: Command): string =>
      command.parent?.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name()
    const known = leaves(program).map(nameOf)
    const listed = codeRows(sectionOf(page, '## Commands'))
      .map(([cell = '']) => /^`cordage \[?([a-z]+(?: [a-z]+)?)/.exec(cell)?.[1] ?? '')
      .filter((name) => name !== 'help')
    expect(listed.sort()).toEqual(known.sort())
  })
})

describe('reference/events.md', () => {
  const page = 'docs/reference/events.md'
  const rows = new Map(
    codeRows(read(page)).map((cells) => [coded(cells[0] ?? '')[0] ?? '', cells] as const),
  )

  it('lists every fact of core and no other', () => {
    expect([...rows.keys()].sort()).toEqual(coreEvents.map(({ type }) => type).sort())
  })

  it.each(coreEvents.map((event) => [event.type, event] as const))(
    'lists the members of %s and whether people see it',
    (type, { schema, visible }) => {
      const [name = '', members = ''] = rows.get(type) ?? []
      const note = read(page)
        .split('\n- ')
        .find((item) => item.startsWith(`\`${type}\``))
      const text = `${members} ${note ?? ''}`
      const { shape } = schema as unknown as { shape: Record<string, { isOptional(): boolean }> }
      const known = Object.entries(shape).map(([key, member]) =>
        member.isOptional() ? `${key}?` : key,
      )
      expect(name.includes('◦')).toBe(visible)
      expect(known.filter((member) => !text.includes(`\`${member}\``))).toEqual([])
    },
  )
})

describe('reference/errors.md', () => {
  const page = read('docs/reference/errors.md')
  const listed = codeRows(page).map(([code = '', exit]) => ({
    code: coded(code)[0] ?? '',
    retried: code.includes('↻'),
    exit: Number(exit),
  }))

  it('lists every code with its exit code, and no other', async () => {
    const sources = globSync('packages/{core,*/*}/src/**/*.ts', { cwd: root })
    const tables = sources.filter((path) => / defineErrors\('/.test(read(path)))
    for (const path of tables) await import(join(root, path))
    const declared = [...errorTables().values()].flatMap((table) =>
      Object.entries(table).map(([code, { exit, retryable = false }]) => {
        return { code, retried: retryable, exit: exit ?? (retryable ? 75 : 1) }
      }),
    )
    const byCode = (a: { code: string }, b: { code: string }) => (a.code < b.code ? -1 : 1)
    const withExit = listed.filter(({ exit }) => !Number.isNaN(exit))
    expect(withExit.sort(byCode)).toEqual(declared.sort(byCode))
  })

  it('lists every problem of a composition', () => {
    const source = read('packages/core/src/compose/problem.ts')
    const known = [...source.matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map((match) => match[1])
    const codes = listed.map(({ code }) => code)
    expect(known.length).toBeGreaterThan(10)
    expect(known.filter((code) => !codes.includes(code ?? ''))).toEqual([])
  })
})

describe('reference/config.md', () => {
  const page = 'docs/reference/config.md'
  const text = read(page)

  it.each(layersIn(page))('shows a layer that composes: %s', async (_, text) => {
    const needed = [...text.matchAll(/!env (\w+)/g)].map((match) => match[1] ?? '')
    const env = Object.fromEntries(needed.map((name) => [name, 'https://models.example']))
    const home: LayerSource = { kind: 'home', name: 'home', file: '/docs/patch.yml', text }
    const { rows, presets, problems } = compose([...layersOf('headless'), home], {
      profile: 'headless',
      env,
    })
    expect(problems).toEqual([])
    const inPresets = [...presets.values()].flatMap((preset) => preset.rows)
    for (const row of [...rows, ...inPresets].filter(({ disabled }) => !disabled)) {
      const schema = await schemaOf(row)
      expect(schema?.safeParse(row.config).error, row.id).toBeUndefined()
    }
  })

  it.each(shippedRows().map((row) => [row.id, row] as const))(
    'lists the fields of %s with their defaults',
    async (id, row) => {
      const schema = await schemaOf(row)
      expect(schema, id).toBeDefined()
      const fields = [...fieldsOf(schema)]
      const listed = coded(text)
      expect(fields.filter((field) => !listed.includes(field))).toEqual([])
      if (fields.length === 0) return expect(listed).toContain(id)

      const heading = text.split('\n').find((line) => line.startsWith('### ') && line.includes(id))
      const section = codeRows(sectionOf(page, heading ?? ''))
      const defaults = schema?.safeParse({}).data ?? {}
      for (const [field, value] of Object.entries(defaults as Record<string, unknown>)) {
        if (typeof value === 'object') continue
        expect(section.find(([cell]) => cell === `\`${field}\``)?.[1]).toBe(`\`${String(value)}\``)
      }
    },
  )
})

/** What these tests use of a zod schema. */
interface Schema {
  readonly def: Readonly<Record<string, unknown>>
  safeParse(value: unknown): { readonly data?: unknown; readonly error?: unknown }
}

function layersOf(profile: string): LayerSource[] {
  const folder = join('profiles', profile)
  const manifest = JSON.parse(read(join(folder, 'package.json'))) as {
    cordage: { bundles: string[] }
  }
  const bundles = manifest.cordage.bundles.map((name) => name.replace('@cordage/bundle-', ''))
  const files = [...bundles.map((name) => join('bundles', name)), folder].map((path) =>
    join(path, 'cordis.patch.yml'),
  )
  return files.map((file) => {
    const kind = file.startsWith('bundles') ? 'bundle' : 'profile'
    return { kind, name: basename(dirname(file)), file: join(root, file), text: read(file) }
  })
}

/** Each row that some profile or preset has, once. */
function shippedRows(): Row[] {
  const all = globSync('profiles/*', { cwd: root }).flatMap((folder) => {
    const profile = basename(folder)
    const { rows, presets } = compose(layersOf(profile), { profile, env: {} })
    return [...rows, ...[...presets.values()].flatMap((preset) => preset.rows)]
  })
  return [...new Map(all.map((row) => [row.id, row])).values()]
}

const packages = new Map(
  globSync('packages/*/*/package.json', { cwd: root }).map((path) => {
    const { name } = JSON.parse(read(path)) as { name: string }
    return [name, join(root, dirname(path), 'src/index.ts')]
  }),
)

async function schemaOf({ name }: Row): Promise<Schema | undefined> {
  const core = /^@cordage\/core\/(.+)$/.exec(name)?.[1]
  const file = core ? join(root, `packages/core/src/${core}/index.ts`) : packages.get(name)
  if (file === undefined || !existsSync(file)) return undefined
  const module = (await import(file)) as { default: { Config?: Schema } }
  return module.default.Config
}

/** The names of all members of a schema, at any depth. */
function fieldsOf(schema: unknown, found = new Set<string>()): Set<string> {
  const def = (schema as Schema | undefined)?.def
  if (def === undefined) return found
  for (const [name, member] of Object.entries((def['shape'] ?? {}) as object)) {
    found.add(name)
    fieldsOf(member, found)
  }
  const inner = ['innerType', 'element', 'valueType', 'in'].map((key) => def[key])
  for (const part of [...inner, ...((def['options'] ?? []) as unknown[])]) fieldsOf(part, found)
  return found
}
