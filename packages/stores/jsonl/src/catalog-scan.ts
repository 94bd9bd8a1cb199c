import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import type { SeenFiles, Stamp } from './catalog-rows.ts'
import { draftName } from './log-folder.ts'

/** The folders below the root that may be sessions. */
export function folderNames(root: string): string[] {
  const names: string[] = []
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory() && !entry.name.startsWith('.')) names.push(entry.name)
  }
  return names
}

/** The stamp of a session's folder `log`; `undefined` where there is none. */
export function stampOfLog(root: string, id: string): Stamp | undefined {
  const found = look(`${root}/${id}/log`)
  return found?.isDirectory() ? stampOf(found) : undefined
}

export function stampOfSegment(root: string, id: string, name: string): Stamp | undefined {
  const found = look(`${root}/${id}/log/${name}`)
  return found?.isFile() ? stampOf(found) : undefined
}

export function hasLiveLane(root: string, id: string): boolean {
  return look(`${root}/${id}/live.jsonl`) !== undefined
}

/** Looks at all files of a log; `undefined` for a folder that holds none. */
export function seeFiles(root: string, id: string, log = 'log'): SeenFiles | undefined {
  const folder = join(root, id, log)
  let bytes = 0
  let newest: { name: string; stamp: Stamp } | undefined
  let updatedAt = 0
  for (const name of segmentNames(folder)) {
    const found = look(`${folder}/${name}`)
    if (!found?.isFile()) continue
    bytes += found.size
    // Who only claimed a segment has added nothing.
    if (found.size > 0) updatedAt = found.mtimeMs
    newest = { name, stamp: stampOf(found) }
  }
  return newest && { newest: newest.name, segment: newest.stamp, bytes, updatedAt }
}

/** When a log without a folder `log` was written to: a rewrite was cut short, or it is a link. */
export function timeElsewhere(root: string, id: string): number {
  const kept = readdirSync(join(root, id)).filter((name) => name.startsWith('log.'))
  const names = ['log', join(draftName, 'log'), ...kept.sort().toReversed()]
  const folder = names.find((name) => {
    return name !== draftName && statSync(join(root, id, name), mayBeMissing)?.isDirectory()
  })
  return (folder === undefined ? undefined : seeFiles(root, id, folder)?.updatedAt) ?? 0
}

export function isSame(a: Stamp, b: Stamp): boolean {
  return a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}

function segmentNames(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^\d{6,15}\.jsonl(\.zst)?$/.test(name))
  return names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
}

const mayBeMissing = { throwIfNoEntry: false } as const

function look(path: string): Stats | undefined {
  return lstatSync(path, mayBeMissing)
}

function stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): Stamp {
  return { ino, size, mtimeMs, ctimeMs }
}
