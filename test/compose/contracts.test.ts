import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import job from '@cordage/core/job'
import { definePlugin } from '@cordage/core/kernel'
import { sessionTitle } from '@cordage/core/session'
import {
  frontendContract,
  policyContract,
  toolContract,
  type ToolBench,
  type ToolsUnderTest,
} from '../../packages/kit/testkit/src/index.ts'
import headless from '../../packages/frontends/headless/src/index.ts'
import applyPatch from '../../packages/tools/apply-patch/src/index.ts'
import bash from '../../packages/tools/bash/src/index.ts'
import edit from '../../packages/tools/edit/src/index.ts'
import glob from '../../packages/tools/glob/src/index.ts'
import grep from '../../packages/tools/grep/src/index.ts'
import jobs from '../../packages/tools/jobs/src/index.ts'
import list from '../../packages/tools/list/src/index.ts'
import read from '../../packages/tools/read/src/index.ts'
import sessionQuery from '../../packages/tools/session-query/src/index.ts'
import write from '../../packages/tools/write/src/index.ts'
import index from '../../packages/stores/index/src/index.ts'

const prepare = async ({ project }: ToolBench): Promise<void> => {
  await mkdir(join(project, 'src'))
  await writeFile(join(project, 'src/a.txt'), 'one\ntwo\n')
}
const patch = '*** Begin Patch\n*** Add File: src/b.txt\n+three\n*** End Patch\n'

const tools: readonly (readonly [string, Omit<ToolsUnderTest, 'prepare'>])[] = [
  ['tool-read', { plugin: read, calls: [{ name: 'read', args: { file_path: 'src/a.txt' } }] }],
  [
    'tool-write',
    { plugin: write, calls: [{ name: 'write', args: { file_path: 'new.txt', content: 'x' } }] },
  ],
  ['tool-list', { plugin: list, calls: [{ name: 'list', args: { path: 'src' } }] }],
  ['tool-glob', { plugin: glob, calls: [{ name: 'glob', args: { pattern: '**/*.txt' } }] }],
  ['tool-grep', { plugin: grep, calls: [{ name: 'grep', args: { pattern: 'two' } }] }],
  ['tool-apply-patch', { plugin: applyPatch, calls: [{ name: 'apply_patch', args: { patch } }] }],
]
for (const [name, subject] of tools) toolContract(name, { ...subject, prepare })

toolContract('tool-edit', {
  plugin: edit,
  rows: { 'tool-read': read },
  calls: [{ name: 'edit', args: { file_path: 'src/a.txt', old_string: 'two', new_string: '2' } }],
  async prepare(bench) {
    await prepare(bench)
    // What a model has not seen it may not change.
    await bench.call('read', { file_path: 'src/a.txt' })
  },
})

toolContract('tool-bash', {
  plugin: bash,
  calls: [{ name: 'bash', args: { command: 'echo one' } }],
})

toolContract('tool-jobs', {
  plugin: jobs,
  rows: { 'core-job': job, 'tool-bash': bash },
  calls: [
    { name: 'job_list', args: {} },
    { name: 'job_output', args: { job: 'job-1' } },
    { name: 'job_kill', args: { job: 'job-1' } },
  ],
  async prepare(bench) {
    await bench.call('bash', { command: 'sleep 60', run_in_background: true })
  },
})

toolContract('tool-session-query', {
  plugin: sessionQuery,
  rows: { 'store-index': index },
  calls: [
    { name: 'session_search', args: { query: 'zebra' } },
    { name: 'session_event_search', args: { query: 'zebra' } },
    { name: 'session_trace', args: { session: 'one' } },
    { name: 'session_event_read', args: { session: 'one', seq: 0 } },
  ],
  async prepare({ root, project }) {
    const session = await root.sessions.create({ id: 'one', project, depth: 0 })
    await session.append([sessionTitle({ title: 'zebra', by: 'user' })])
    await session.close()
  },
})

frontendContract('frontend-headless', { plugin: headless })

const noNetwork = definePlugin({
  name: 'no-network',
  inject: ['policy'],
  apply: (ctx) => {
    ctx.policy.rule(ctx, {
      id: 'no-network',
      decide: ({ kind }) => {
        return kind === 'net' ? { answer: 'deny', rule: 'no-network', reason: 'none' } : undefined
      },
    })
  },
})
policyContract('a rule', {
  plugin: noNetwork,
  decisions: [
    {
      effect: { kind: 'net', host: 'example.com', port: 443 },
      mode: 'full-access',
      answer: 'deny',
    },
    { effect: { kind: 'fs:write', path: '/etc/hosts' }, mode: 'read-only', answer: 'unchanged' },
    { effect: { kind: 'fs:read', path: '/etc/hosts' }, answer: 'unchanged' },
  ],
})
