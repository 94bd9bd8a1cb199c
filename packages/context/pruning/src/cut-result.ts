import type { Message } from '@cordage/core/message'
import { handleIn, handleOfText, note, resultText } from '@cordage/core/tool'
import type { PruningConfig } from './config.ts'

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
  const points = [...text]
  const { headChars, tailChars, thresholdChars } = config
  if (points.length <= thresholdChars) return undefined
  const leftOut = points.length - headChars - tailChars
  // What was spilled already is named by the handle of the whole.
  const handle = handleIn(text) ?? handleOfText(text)
  const middle = note(
    { leftOut, of: points.length, handle },
    'Characters of an old result were left out here.',
  )
  const tail = points.slice(points.length - tailChars).join('')
  return [points.slice(0, headChars).join(''), middle, tail].join('\n')
}
