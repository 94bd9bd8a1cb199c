/**
 * `task`, whose failure does not end the process where a tool's body does not wait for it, or only
 * after the `await using` block that it returns from has closed.
 */
export function tolerate<T>(task: Promise<T>): Promise<T> {
  task.catch(() => {
    // Whoever does wait still gets it.
  })
  return task
}
