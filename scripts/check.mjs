// The quick check: types, lint, format, unit and contract tests, composition, crashes, tidiness.
import { runTogether } from './run.mjs'

const projects = ['unit', 'compose', 'simulation', 'tidy']
// What fifty mounts of every plugin leave behind is looked at by the whole suite.
const left = ['--exclude', 'test/compose/plugins.test.ts']
await runTogether(
  ['tsc', '--noEmit'],
  ['oxlint'],
  ['oxfmt', '--check'],
  ['vitest', 'run', ...projects.flatMap((project) => ['--project', project]), ...left],
)
