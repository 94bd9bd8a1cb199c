import { pluginContract, policyContract } from '@cordage/testkit'
import plugin from '../src/index.ts'

pluginContract('{{name}}', { plugin, badConfigs: [{ programs: 'rm' }] })
policyContract('{{name}}', {
  plugin,
  decisions: [
    { effect: { kind: 'process', argv: ['/bin/rm', '-r', 'x'], cwd: '/' }, answer: 'deny' },
    { effect: { kind: 'process', argv: ['ls'], cwd: '/' }, answer: 'unchanged' },
    { effect: { kind: 'net', host: 'example.com', port: 443 }, answer: 'unchanged' },
  ],
})
