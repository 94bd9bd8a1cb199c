import type { Message } from '@cordage/core/message'
import { handleIn, handleOfText, note, resultText } from '@cordage/core/tool'
import type { PruningConfig } from './config.ts'

/** Two units that are one code point. */
const PAIRS = /[\uD800-\uDBFF][\uDC00-\uDFFF]/g

/**
 * What stands for a long result: its ends, counted in code points, and between them the handle of
 * all of it. `undefined` where nothing is to be cut, as of a result that shows more than text.
 */
export function cutResult(message: Message, config: PruningConfig): string | undefined {
  const [part, ...others] = message.content
  if (part?.type !== 'tool-result' || others.length > 0) return undefined
  if (part.content.some(({ type }) => type !== 'text')) return undefined
  const text = resultText(part.content)
  // There are as many units as code points, or more.
  if (text.length <= config.thresholdChars) return undefined
  const points = text.length - (text.match(PAIRS)?.length ?? 0)
  const { headChars, tailChars, thresholdChars } = config
  if (points <= thresholdChars) return undefined
  const leftOut = points - headChars - tailChars
  // What was spilled already is named by the handle of the whole.
  const handle = handleIn(text) ?? handleOfText(text)
  const middle = note(
    { leftOut, of: points, handle },
    'Characters of an old result were left out here.',
  )
  // Twice as many units have at least as many code points, one cut in half aside.
  const head = Array.from(text.slice(0, headChars * 2)).slice(0, headChars)
  const end = Array.from(text.slice(Math.max(0, text.length - tailChars * 2)))
  return [head.join(''), middle, end.slice(end.length - tailChars).join('')].join('\n')
}
