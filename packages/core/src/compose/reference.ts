import { dirname, resolve } from 'node:path'

const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?:\s*\?\?\s*(.*))?$/s

/** A value that stands for something outside of the layer; opaque until a row is enabled. */
export class Reference {
  readonly tag: '!env' | '!path'
  /** What follows the tag in YAML. */
  readonly text: string
  /** What it is without the environment, if anything. */
  readonly fallback: string | undefined

  constructor(tag: Reference['tag'], text: string, fallback?: string) {
    this.tag = tag
    this.text = text
    this.fallback = fallback
  }
}

/** `!env NAME` or `!env "NAME ?? default"`; always gives a string. */
export function envReference(text: string): Reference | undefined {
  const [, name, fallback] = ENV.exec(text.trim()) ?? []
  if (name === undefined) return undefined
  return new Reference('!env', fallback === undefined ? name : `${name} ?? ${fallback}`, fallback)
}

/** `!path name`: an absolute path, taken relative to the folder of the layer's file. */
export function pathReference(file: string, path: string): Reference {
  const absolute = resolve(dirname(file), path)
  return new Reference('!path', absolute, absolute)
}

/** The value of a reference, or undefined for a variable that is unset and has no default. */
export function resolveReference(
  { tag, text, fallback }: Reference,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const [, name = ''] = tag === '!env' ? (ENV.exec(text) ?? []) : []
  return (Object.hasOwn(env, name) ? env[name] : undefined) ?? fallback
}
