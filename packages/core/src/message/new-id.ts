import { randomFillSync } from 'node:crypto'
import { ulid } from 'ulid'

const pool = new Uint8Array(4096)
let used = pool.length

/** A fresh ULID. The library alone would ask the system for each character of it. */
export function newId(): string {
  return ulid(undefined, random)
}

function random(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const byte = pool[used] ?? 0
  used += 1
  return byte / 256
}
