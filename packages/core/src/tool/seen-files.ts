import type { SeenFiles } from './tool.ts'

const MAX_FILES = 2000

/** What a session's model has seen, in memory; beyond `max` files the oldest is forgotten. */
export function createSeenFiles(max = MAX_FILES): SeenFiles {
  const files = new Map<string, { version: string; whole: boolean }>()
  return {
    get: (path) => files.get(path),
    set: (path, seen) => {
      files.delete(path)
      files.set(path, { ...seen })
      const oldest = files.keys().next()
      if (files.size > max && !oldest.done) files.delete(oldest.value)
    },
  }
}
