import { join } from 'node:path'
import type { Finding, InspectedPlace } from '@cordage/core/agent'
import { collect } from './collect.ts'
import { fit } from './fit.ts'
import type { Judge, Reader } from './reader.ts'

export interface Budget {
  readonly reader: Reader
  readonly names: readonly string[]
  readonly maxBytes: number
  /** Of the person. */
  readonly home: string
}

/** The files of a person, and of a project's root, for which there is no room. */
export async function overBudget(
  { reader, names, maxBytes, home }: Budget,
  { project, mayRead }: InspectedPlace,
): Promise<Finding[]> {
  const [root, own] = [await reader.real(project), await reader.real(home)]
  const judge: Judge = (path) => {
    const isOwn = names.some((name) => path === join(own, name))
    return isOwn || mayRead(path) ? undefined : 'not readable'
  }
  const groups = await Promise.all([
    collect('', [home], { reader, names, judge }),
    collect('', [root], { reader, names, judge, project: root }),
  ])
  const budget = `the files of its place take more than ${maxBytes} bytes`
  return groups.flatMap((group) => {
    const [{ dropped = [], cut = false, files = [] } = {}] = fit([group], maxBytes)
    const last = files.at(-1)
    return [
      ...dropped.map((path) => ({ path, reason: `left out: ${budget}` })),
      ...(cut && last ? [{ path: last.path, reason: `cut: ${budget}` }] : []),
    ]
  })
}
