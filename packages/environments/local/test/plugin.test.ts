import { createRoot, definePlugin, footprint, mount, own, type Host } from '@cordage/core/kernel'
import { expect, it } from 'vitest'
import envLocal from '../src/index.ts'
import { collect, never } from './fixture.ts'

const host: Host = { env: { PATH: '/usr/bin:/bin' }, home: '/nowhere', cwd: '/', version: '0' }
const hostPlugin = definePlugin({
  name: 'host',
  provides: ['host'],
  apply: (ctx) => own(ctx, 'host', host),
})

async function boot(config: unknown = {}) {
  const root = createRoot()
  const base = mount(root, { id: 'host', plugin: hostPlugin, config: {}, timeoutMs: 5000 })
  await base.settled()
  const before = footprint(root)
  const row = mount(root, { id: 'env-local', plugin: envLocal, config, timeoutMs: 5000 })
  return { root, row, before, state: await row.settled() }
}

it('provides files and processes, and leaves nothing behind', async () => {
  const { root, row, before, state } = await boot()
  expect(state).toEqual({ state: 'active' })
  const { fs, processes } = root
  expect(fs.guarantee).toBe(process.platform === 'linux' ? 'full' : 'partial')
  expect(processes.confinement).toBe('none')
  const running = await processes.start(
    { argv: ['sleep', '60'], cwd: '/', env: host.env as {} },
    never,
  )
  const output = collect(running.output)
  await row.dispose()
  expect(await running.exit).toMatchObject({ signal: 'SIGTERM', aborted: true })
  expect(await output).toEqual({ stdout: '', stderr: '' })
  await expect(fs.glob('/', { pattern: '*', maxResults: 1 }, never)).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(footprint(root)).toEqual(before)
})

it('refuses an unknown field', async () => {
  expect(await boot({ shell: 'fish' }).then(({ state }) => state.state)).toBe('failed')
})
