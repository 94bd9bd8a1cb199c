import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { definePlugin } from '@cordage/core/kernel'
import {
  frontendContract,
  policyContract,
  toolContract,
  type ToolsUnderTest,
} from '../../packages/kit/testkit/src/index.ts'
import headless from '../../packages/frontends/headless/src/index.ts'
import applyPatch from '../../packages/tools/apply-patch/src/index.ts'
import glob from '../../packages/tools/glob/src/index.ts'
import grep from '../../packages/tools/grep/src/index.ts'
import list from '../../packages/tools/list/src/index.ts'
import read from '../../packages/tools/read/src/index.ts'
import write from '../../packages/tools/write/src/index.ts'

const prepare: ToolsUnderTest['prepare'] = async ({ project }) => {
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
