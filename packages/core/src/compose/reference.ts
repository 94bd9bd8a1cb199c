import { dirname, resolve } from 'node:path'

const ENV_PATTERN = /^([A-Za-z_][A-Za-z0-9_]*)(?:\s*\?\?\s*(.*))?$/s

/** A value that stands for something outside of the layer; opaque until a row is enabled. */
export abstract class Reference {
  abstract readonly tag: string
  /** What follows the tag in YAML. */
  abstract readonly text: string
}

/** `!env NAME` or `!env "NAME ?? default"`; always gives a string. */
export class EnvReference extends Reference {
  readonly tag = '!env'
  readonly name: string
  readonly default: string | undefined

  constructor(name: string, fallback?: string) {
    super()
    this.name = name
    this.default = fallback
  }

  get text(): string {
    return this.default === undefined ? this.name : `${this.name} ?? ${this.default}`
  }
}

/** `!path name`: an absolute path, taken relative to the folder of the layer's file. */
export class PathReference extends Reference {
  readonly tag = '!path'
  readonly text: string

  constructor(file: string, path: string) {
    super()
    this.text = resolve(dirname(file), path)
  }
}

export function parseEnvReference(text: string): EnvReference | undefined {
  const [, name, fallback] = ENV_PATTERN.exec(text.trim()) ?? []
  return name === undefined ? undefined : new EnvReference(name, fallback)
}

/** The value of a reference, or undefined for a variable that is unset and has no default. */
export function resolveReference(
  reference: Reference,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (!(reference instanceof EnvReference)) return reference.text
  const value = Object.hasOwn(env, reference.name) ? env[reference.name] : undefined
  return value ?? reference.default
}
