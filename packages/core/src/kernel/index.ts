// `export *`, because module augmentation of `Services` does not follow named re-exports.
export * from './context.ts'
export { assert, AssertionError } from './assert.ts'
export { createRegistry, type Entry, type Registry, type RegistryChange } from './registry.ts'
export { createRoot, footprint, type Footprint } from './root.ts'
export { defineHook, type Hook, type HookHandler, type Next } from './hook.ts'
export { defineNotice, type Notice } from './notice.ts'
export {
  definePlugin,
  type Advice,
  type ConfigMigration,
  type ConfiguredRow,
  type Plugin,
  type PluginDefinition,
} from './plugin.ts'
export { describeFailure, log, type LogLevel, type LogRecord, type LogSink } from './log.ts'
export type { AnyPlugin } from './activate.ts'
export type { Host } from './host.ts'
export { mount, type Mounted, type MountOptions, type RowState } from './mount.ts'
export { openScope, scopeOf, type Scope } from './scope.ts'
export { own } from './own.ts'
export { withTimeLimit } from './time-limit.ts'
export { reasonOf } from './reason.ts'
export { blame, RowError, rowOf } from './row.ts'
