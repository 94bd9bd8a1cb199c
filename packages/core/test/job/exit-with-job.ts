/** Starts a job in the directory that is given, and exits at once when it runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createRoot, definePlugin, mount, openScope, own } from '@cordage/core/kernel'
import environment from '../../../environments/local/src/index.ts'
import plugin from '../../src/job/index.ts'
import { SERVER } from './processes.ts'

const [, , cwd = '.'] = process.argv
const root = createRoot()
const host = definePlugin({
  name: 'host',
  provides: ['host'],
  apply: (ctx) => own(ctx, 'host', { env: { ...process.env }, home: cwd, cwd, version: '0' }),
})
for (const [id, row] of Object.entries({ host, environment, plugin })) {
  await mount(root, { id, plugin: row, config: {}, timeoutMs: 5_000 }).settled()
}
const child = await root.processes.start(
  { argv: ['bash', '-c', SERVER], cwd, env: root.processes.baseEnv() },
  new AbortController().signal,
)
const job = root.jobs.start(openScope(root, 'agent'), {
  title: 'server',
  callId: 'call',
  process: child,
  capture: async (output, show) => {
    for await (const { bytes } of output) show(Buffer.from(bytes).toString())
    return undefined
  },
})
while (!job.read(0).text.includes('line 3\n')) await sleep(10)
process.exit(0)
