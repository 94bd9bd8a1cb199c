import { isHarnessError } from '@cordage/core/error'
import { parseEnvelope } from './envelope.ts'
import type { FilePatch } from './patch.ts'
import { parseUnified } from './unified.ts'

/** Reads either format. Throws `PATCH_INVALID`. */
export function parse(patch: string): FilePatch[] {
  const text = unwrap(patch.replaceAll('\r\n', '\n'))
  return text.startsWith('*** Begin Patch') ? parseEnvelope(text) : parseUnified(text)
}

/** The paths that a patch would touch: none when it cannot be read, as it then does nothing. */
export function pathsOf(patch: string): string[] {
  try {
    const paths = parse(patch).flatMap((file) => {
      return file.kind === 'update' && file.moveTo !== undefined
        ? [file.path, file.moveTo]
        : [file.path]
    })
    return [...new Set(paths)]
  } catch (error) {
    if (isHarnessError(error, 'PATCH_INVALID')) return []
    throw error
  }
}

/** Without the code fence or here-document that models put around a patch. */
function unwrap(text: string): string {
  const trimmed = text.replace(/^\s*\n/, '')
  const fence = /^(?:```\w*|(?:apply_patch )?<<\s*['"]?(\w+)['"]?)\n([\s\S]*?)\n(?:```|\1)\s*$/
  return fence.exec(trimmed)?.[2] ?? trimmed
}
