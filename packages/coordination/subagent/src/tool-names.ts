/** How a child begins: with nothing, or with the history of its parent. */
export type DelegationKind = 'spawn' | 'fork'

export const toolNames: Readonly<Record<DelegationKind, string>> = {
  spawn: 'subagent',
  fork: 'subagent_fork',
}
