import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bootError } from './errors.ts'
import { findPackage, manifestOf, readManifest } from './manifest.ts'

/** The container is a release candidate that the kernel knows by heart: any other is refused. */
export function assertOneKernel(): void {
  const core = fileURLToPath(import.meta.resolve('@cordage/core/kernel'))
  const wanted = manifestOf(core)?.dependencies?.['cordis']
  const folder = findPackage('cordis', dirname(core))
  const found = folder === undefined ? 'no version' : readManifest(folder)?.version
  if (found !== wanted) throw bootError('KERNEL_MISMATCH', { found, wanted })
}
