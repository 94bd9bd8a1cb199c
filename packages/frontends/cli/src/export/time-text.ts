/** A time here, to the minute; what cannot be one as it is. */
export function timeText(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toLocaleString('sv-SE').slice(0, 16)
}
