import { SNAPSHOT_PARTS } from './prompt.ts'

/**
 * The `<state_snapshot>` of an answer, without what stands around it; `undefined` where it lacks
 * one of its elements, has one twice, or says nothing at all.
 */
export function readSnapshot(answer: string): string | undefined {
  const whole = between(answer, 'state_snapshot')
  if (whole === undefined) return undefined
  const parts = SNAPSHOT_PARTS.map((part) => between(whole, part))
  if (parts.some((part) => part === undefined)) return undefined
  if (parts.every((part) => part?.trim() === '')) return undefined
  return `<state_snapshot>\n${whole.trim()}\n</state_snapshot>`
}

function between(text: string, tag: string): string | undefined {
  const [before, inside, ...twice] = text.split(`<${tag}>`)
  if (before === undefined || inside === undefined || twice.length > 0) return undefined
  const [content, after, ...more] = inside.split(`</${tag}>`)
  return after === undefined || more.length > 0 ? undefined : content
}
