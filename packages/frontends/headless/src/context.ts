import type { PluginContext } from '@cordage/core/kernel'

export type HeadlessContext = PluginContext<
  'agents' | 'approvals' | 'models' | 'processes' | 'fs' | 'sessions' | 'store' | 'tools'
>
