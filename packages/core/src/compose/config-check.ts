import { reasonOf } from '../kernel/index.ts'
import type { AnyPlugin } from '../kernel/index.ts'
import { originOf } from './composition.ts'
import type { Row } from './composition.ts'
import { pathText } from './located.ts'
import { checkVersions, fateOf } from './migration.ts'
import { didYouMean } from '../error/index.ts'
import { problem } from './problem.ts'
import type { Problem } from './problem.ts'

type Key = string | number

interface Issue {
  message: string
  path?: readonly (PropertyKey | { key: PropertyKey })[] | undefined
  /** Zod lists here what it does not know; the path is that of the mapping around it. */
  keys?: readonly string[]
}

/** All that the plugin's schema has against the row's configuration, each at its line. */
export async function checkConfig(row: Row, plugin: AnyPlugin): Promise<Problem[]> {
  const outdated = checkVersions(row, plugin)
  const schema = plugin.Config
  if (!schema || outdated.length > 0) return outdated
  try {
    const { issues = [] } = await schema['~standard'].validate(row.config)
    return issues.flatMap((issue) => describeIssue(row, plugin, issue))
  } catch (error) {
    // A transform that throws is the plugin's mistake, but it is this value that met it.
    return [invalid(row, [], `cannot be checked: ${reasonOf(error)}`)]
  }
}

function describeIssue(row: Row, plugin: AnyPlugin, issue: Issue): Problem[] {
  const keys = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  const path = keys.map((key): Key => (typeof key === 'number' ? key : String(key)))
  if (isUnset(row.config, path)) return []
  if (issue.keys === undefined) {
    const quote = /expected string, received (number|boolean)/.test(issue.message)
    return [invalid(row, path, issue.message, quote ? 'Put the value in quotes.' : undefined)]
  }
  const known = keysAt(plugin.Config, path)
  return issue.keys.map((key) => {
    const listed = known.length > 0 ? `Known here: ${known.join(', ')}.` : undefined
    const fate = fateOf(plugin, [...path, key].join('.'))
    return invalid(row, [...path, key], 'unknown key', fate ?? didYouMean(key, known) ?? listed)
  })
}

function invalid(row: Row, path: readonly Key[], why: string, hint?: string): Problem {
  const full = ['config', ...path]
  const message = `The row "${row.id}" has an invalid ${pathText(full)}: ${why}.`
  return problem('CONFIG_INVALID', originOf(row, full), message, { row: row.id, hint })
}

// An unset variable, which composing has reported, leaves a key without a value.
function isUnset(config: unknown, path: readonly Key[]): boolean {
  const owner = path.slice(0, -1).reduce((at: unknown, key) => field(at, String(key)), config)
  const last = String(path.at(-1))
  return (
    typeof owner === 'object' && owner !== null && last in owner && field(owner, last) === undefined
  )
}

// The keys of the zod object at `path`, looking through defaults and the like; else none.
function keysAt(schema: unknown, path: readonly Key[]): string[] {
  let at = schema
  for (const key of [...path, undefined]) {
    at = unwrap(at)
    if (key === undefined) break
    at = memberOf(at, key)
  }
  const shape = field(at, 'shape')
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : []
}

function unwrap(schema: unknown): unknown {
  let inner = schema
  for (let next = schema; next !== undefined; next = field(field(next, 'def'), 'innerType')) {
    inner = next
  }
  return inner
}

function memberOf(schema: unknown, key: Key): unknown {
  const member = field(field(schema, 'shape'), String(key))
  return member ?? field(schema, 'element') ?? field(field(schema, 'def'), 'valueType')
}

function field(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string, unknown>)[key]
}
