/** `task`, or a rejection with `expired()` after `timeoutMs`; the task itself goes on. */
export async function withTimeLimit<T>(
  task: PromiseLike<T>,
  timeoutMs: number,
  expired: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(expired()), timeoutMs)
  })
  try {
    return await Promise.race([task, limit])
  } finally {
    clearTimeout(timer)
  }
}
