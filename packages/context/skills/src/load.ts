import { dirname } from 'node:path'
import type { Target } from '@cordage/core/environment'
import { environmentError } from '@cordage/core/environment'
import { frame } from '@cordage/core/tool'
import { skillError } from './errors.ts'
import type { Skill } from './skill-files.ts'
import { MAX_HEAD_BYTES, parseSkill } from './skill-text.ts'

export interface LoadedSkill {
  readonly name: string
  readonly path: string
  readonly body: string
  /** The first line of the file that is not in `body`. */
  readonly cutAt?: number
}

/** UTF-8 takes no more for a character of a string. */
const MAX_CHAR_BYTES = 3

/** Reads a skill as it is now. Throws `SKILL_MALFORMED`, `FILE_NOT_FOUND`. */
export async function loadSkill(
  { name, path }: Skill,
  target: Target,
  maxBodyChars: number,
): Promise<LoadedSkill> {
  if (!(await target.stat())) throw environmentError('FILE_NOT_FOUND', { path })
  const end = MAX_HEAD_BYTES + maxBodyChars * MAX_CHAR_BYTES
  const { bytes } = await target.read({ start: 0, end })
  const parsed = parseSkill(bytes)
  if ('problem' in parsed) {
    throw skillError('SKILL_MALFORMED', { name, path, reason: parsed.problem })
  }
  const { body, bodyLine } = parsed
  if (body.length <= maxBodyChars) return { name, path, body: body.trim() }
  const shown = body.slice(0, body.lastIndexOf('\n', maxBodyChars) + 1 || maxBodyChars)
  return { name, path, body: shown.trimEnd(), cutAt: bodyLine + shown.split('\n').length - 1 }
}

/** What is shown of it: the content cannot close the frame. */
export function skillText({ name, path, body, cutAt }: LoadedSkill): string {
  const text = frame('skill', { name, folder: dirname(path) }, body)
  const more = `The rest of it: read ${JSON.stringify(path)} from line ${cutAt}.`
  return cutAt === undefined ? text : `${text}\n${more}`
}
