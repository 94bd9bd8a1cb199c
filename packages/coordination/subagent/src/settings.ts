import '@cordage/core/agent'
import type { PluginContext } from '@cordage/core/kernel'
import type { RunBudget } from './run-budget.ts'
import type { DelegationKind } from './tool-names.ts'

export type SubagentContext = PluginContext<'tools' | 'agents' | 'sessions' | 'store'>

export interface DelegationSettings {
  readonly maxSteps: number
  readonly maxToolCalls?: number | undefined
  readonly maxTokens?: number | undefined
  readonly maxCostUsd?: number | undefined
  readonly timeoutMs: number
  readonly approvals: 'refuse' | 'ask'
  readonly runs: RunBudget
}

/** A call of one of the tools. */
export interface Delegation {
  readonly kind: DelegationKind
  readonly description: string
  readonly prompt: string
}
