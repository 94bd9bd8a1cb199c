import type { RunningProcess } from '@cordage/core/environment'
import { HeadTail } from './head-tail.ts'
import { LineCleaner } from './line-cleaner.ts'
import { Spill } from './spill.ts'

export interface CaptureLimits {
  readonly maxHeadChars: number
  readonly maxTailChars: number
  readonly maxSpillBytes: number
}

export interface Captured {
  readonly head: string
  readonly tail: string
  readonly omittedChars: number
  /** What the process wrote, byte for byte, up to the limit. */
  readonly spill: Spill
}

/** Reads both streams to their end, in the order in which lines were finished. */
export async function capture(
  output: RunningProcess['output'],
  limits: CaptureLimits,
  show: (text: string) => void,
): Promise<Captured> {
  const text = new HeadTail(limits.maxHeadChars, limits.maxTailChars)
  const spill = new Spill(limits.maxSpillBytes)
  const cleaners = { stdout: new LineCleaner(), stderr: new LineCleaner() }
  const add = (piece: string) => {
    if (piece === '') return
    text.push(piece)
    show(piece)
  }
  for await (const { stream, bytes } of output) {
    spill.push(bytes)
    add(cleaners[stream].push(bytes))
  }
  add(cleaners.stdout.end())
  add(cleaners.stderr.end())
  const { head, tail, omitted } = text.result()
  return { head, tail, omittedChars: omitted, spill }
}
