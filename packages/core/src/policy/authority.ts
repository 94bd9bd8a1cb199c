import { modes, type Authority, type Mode } from './effect.ts'
import { canonicalPath, contains } from './paths.ts'

/** What both `a` and `b` may do: never more than either. */
export function intersect(a: Authority, b: Authority): Authority {
  const mode = stricterMode(a.mode, b.mode)
  const netHosts = sharedHosts(freeHosts(a), freeHosts(b))
  return { mode, writableRoots: sharedRoots(a, b), ...(netHosts ? { netHosts } : {}) }
}

function stricterMode(a: Mode, b: Mode): Mode {
  return modes.indexOf(a) < modes.indexOf(b) ? a : b
}

function sharedRoots(a: Authority, b: Authority): string[] {
  const left = canonicalRoots(a)
  const right = canonicalRoots(b)
  // `full-access` is not bound by its roots, so the other's are what both may write.
  if (a.mode === 'full-access' && b.mode !== 'full-access') return right
  if (b.mode === 'full-access' && a.mode !== 'full-access') return left
  const shared = [
    ...left.filter((root) => right.some((other) => contains(other, root))),
    ...right.filter((root) => left.some((other) => contains(other, root))),
  ]
  return [...new Set(shared)]
}

/** What is not an absolute path gives nothing. */
function canonicalRoots({ writableRoots }: Authority): string[] {
  return writableRoots.map((root) => canonicalPath(root)).filter((root) => root !== undefined)
}

/** Without a list `full-access` reaches every host unasked (undefined), every other mode none. */
function freeHosts({ mode, netHosts }: Authority): readonly string[] | undefined {
  return netHosts ?? (mode === 'full-access' ? undefined : [])
}

function sharedHosts(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  if (!a || !b) return a ?? b
  const names = new Set(b.map((host) => host.toLowerCase()))
  return a.filter((host) => names.has(host.toLowerCase()))
}
