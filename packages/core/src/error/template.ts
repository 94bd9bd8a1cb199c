export type TemplateValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | readonly string[]

const MAX_VALUE = 200

/** One line of at most 200 characters in which nothing can move a cursor or forge a line. */
export function printValue(value: unknown): string {
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  const bounded = text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text
  return escapeControls(bounded)
}

/** Control, line-separator and bidirectional characters as `\x..`. */
export function escapeControls(text: string): string {
  // oxlint-disable-next-line no-control-regex
  const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g
  return text.replace(unsafe, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** The same in JSON, which means the same afterwards; JSON leaves no other control in its strings. */
export function escapeInJson(json: string): string {
  return json.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
