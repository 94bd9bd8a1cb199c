import { createRoot, definePlugin, mount, own, type RootContext } from '@cordage/core/kernel'
import type { Actor, Authority, Effect } from '@cordage/core/policy'
import policy from '../../src/policy/index.ts'

export const home = '/home/ann/.cordage'

export interface PolicyFixture {
  readonly root: RootContext
  readonly logged: string[]
  close(): Promise<void>
}

/** The policy row on a root whose harness home is `home`. */
export async function openPolicy(): Promise<PolicyFixture> {
  const logged: string[] = []
  const root = createRoot({ log: ({ level, text }) => level === 'error' && logged.push(text) })
  const host = definePlugin({
    name: 'host',
    provides: ['host'],
    apply: (ctx) => own(ctx, 'host', { env: {}, home, cwd: '/project/app', version: '0' }),
  })
  const rows = [
    mount(root, { id: 'host', plugin: host, config: {}, timeoutMs: 1000 }),
    mount(root, { id: 'core-policy', plugin: policy, config: {}, timeoutMs: 1000 }),
  ]
  for (const row of rows) await row.settled()
  const close = async () => {
    for (const row of rows.reverse()) await row.dispose()
  }
  return { root, logged, close }
}

export function actor(authority: Partial<Authority> = {}, more: Partial<Actor> = {}): Actor {
  const whole: Authority = { mode: 'workspace-write', writableRoots: ['/w/app'], ...authority }
  return { sessionId: 's1', agentId: 'a1', authority: whole, ...more }
}

export const write = (path: string): Effect => ({ kind: 'fs:write', path })
export const read = (path: string): Effect => ({ kind: 'fs:read', path })
export const run = (command: string, cwd = '/w/app'): Effect => {
  return { kind: 'process', argv: ['bash', '-c', command], command, cwd }
}
