import type { InboxEntry, InboxState } from '../session/index.ts'

/** The entries a step takes: every free `next-step` one and, at a turn's start, one `next-turn`. */
export function claimable(inbox: InboxState, atTurnStart: boolean): InboxEntry[] {
  const free = inbox.filter((entry) => entry.held === undefined)
  const prompt = atTurnStart ? free.find((entry) => entry.queue === 'next-turn') : undefined
  return free.filter((entry) => entry.queue === 'next-step' || entry === prompt)
}

/** Whether an idle agent has something to start a turn with: a notice only joins one. */
export function hasInput(inbox: InboxState): boolean {
  return inbox.some(({ held, message: { source } }) => {
    return held === undefined && !(source.kind === 'plugin' && source.form === 'notice')
  })
}
