/** What `doctor` looked at. */
export interface Check {
  readonly what: string
  /** `partial` is a limit that one can live with; `missing` is something not set up. */
  readonly state: 'ok' | 'partial' | 'missing' | 'failed'
  readonly detail: string
}
