/** How many members two lists have in common from the beginning. */
export function countSame(before: readonly unknown[], now: readonly unknown[]): number {
  const most = Math.min(before.length, now.length)
  let same = 0
  while (same < most && before[same] === now[same]) same += 1
  return same
}
