const AROUND = 60

export interface TextDifference {
  readonly offset: number
  readonly before: string
  readonly after: string
}

/** The first differing byte of two texts in UTF-8, with what stands around it. */
export function textDifference(before: string, after: string): TextDifference {
  const at = commonLength(before, after)
  const around = (text: string) => text.slice(Math.max(0, at - AROUND), at + AROUND)
  const offset = Buffer.byteLength(before.slice(0, at))
  return { offset, before: around(before), after: around(after) }
}

/** How many UTF-16 units both begin with, never half of a character. */
export function commonLength(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1
  const inPair = at > 0 && /[\ud800-\udbff]/.test(a[at - 1] ?? '')
  return inPair ? at - 1 : at
}

/** The members on the way to the first value that differs, in the order in which JSON has them. */
export function pathOfDifference(before: unknown, after: unknown): string[] | undefined {
  if (!isNested(before) || !isNested(after) || Array.isArray(before) !== Array.isArray(after)) {
    return Object.is(before, after) ? undefined : []
  }
  const [old, fresh] = [Object.entries(before), Object.entries(after)]
  for (let at = 0; at < Math.max(old.length, fresh.length); at += 1) {
    const [key, value] = fresh[at] ?? []
    const [oldKey, oldValue] = old[at] ?? []
    if (key === undefined || key !== oldKey) return [key ?? oldKey ?? '']
    const inner = pathOfDifference(oldValue, value)
    if (inner) return [key, ...inner]
  }
  return undefined
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
