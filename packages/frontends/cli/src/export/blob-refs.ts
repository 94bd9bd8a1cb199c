const sha256 = /^[0-9a-f]{64}$/

/** The hashes of all blobs that a fact's data speaks of, whichever plugin's fact it is. */
export function blobHashes(data: unknown, found = new Set<string>()): Set<string> {
  if (typeof data !== 'object' || data === null) return found
  if ('hash' in data && typeof data.hash === 'string' && sha256.test(data.hash)) {
    found.add(data.hash)
  }
  for (const member of Object.values(data)) blobHashes(member, found)
  return found
}
