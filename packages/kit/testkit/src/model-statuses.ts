/** The date that a server's own clock shows; a wait until a date is counted from there. */
const now = 'Thu, 01 Jan 2026 00:00:00 GMT'

/** What each status is, with a body that says nothing, and whether `policy-retry` tries again. */
export const statuses: readonly {
  readonly status: number
  readonly code: string
  readonly retried: boolean
}[] = [
  { status: 400, code: 'INVALID_REQUEST', retried: false },
  { status: 401, code: 'AUTH', retried: false },
  { status: 402, code: 'QUOTA', retried: false },
  { status: 403, code: 'AUTH', retried: false },
  { status: 404, code: 'INVALID_REQUEST', retried: false },
  { status: 408, code: 'TIMEOUT', retried: true },
  { status: 409, code: 'SERVER', retried: true },
  { status: 413, code: 'CONTEXT_WINDOW_EXCEEDED', retried: false },
  { status: 422, code: 'INVALID_REQUEST', retried: false },
  { status: 425, code: 'SERVER', retried: true },
  { status: 429, code: 'RATE_LIMIT', retried: true },
  { status: 500, code: 'SERVER', retried: true },
  { status: 502, code: 'SERVER', retried: true },
  { status: 503, code: 'SERVER', retried: true },
  { status: 504, code: 'SERVER', retried: true },
  { status: 529, code: 'SERVER', retried: true },
]

/** How servers say when to try again; without `waitMs` they do not. */
export const retryWishes: readonly {
  readonly name: string
  readonly headers: Readonly<Record<string, string>>
  readonly waitMs?: number
}[] = [
  { name: 'nothing', headers: {} },
  { name: 'seconds', headers: { 'retry-after': '7' }, waitMs: 7_000 },
  {
    name: 'a date',
    headers: { date: now, 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' },
    waitMs: 9_000,
  },
  { name: 'milliseconds', headers: { 'retry-after-ms': '1500' }, waitMs: 1_500 },
  { name: 'zero', headers: { 'retry-after': '0' }, waitMs: 0 },
  { name: 'two minutes', headers: { 'retry-after': '120' }, waitMs: 120_000 },
  { name: 'two hours', headers: { 'retry-after': '7200' }, waitMs: 7_200_000 },
  { name: 'no number', headers: { 'retry-after': 'soon' } },
]
