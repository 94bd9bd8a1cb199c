const kills = new Set<() => void>()

/**
 * Calls `kill` when this process exits at once (a second signal, an error that nobody caught),
 * unless the result was called before. `kill` cannot wait for anything.
 */
export function killAtExit(kill: () => void): () => void {
  // There is a listener while something runs, and none otherwise.
  if (kills.size === 0) process.on('exit', killAll)
  kills.add(kill)
  return () => {
    kills.delete(kill)
    if (kills.size === 0) process.off('exit', killAll)
  }
}

function killAll(): void {
  for (const kill of kills) kill()
}
