// The quick check: types, lint, format, unit and contract tests, composition, crashes, tidiness.
import { runTogether } from './run.mjs'

const projects = ['unit', 'compose', 'simulation', 'tidy']
await runTogether(
  ['tsc', '--noEmit'],
  ['oxlint'],
  ['oxfmt', '--check'],
  ['vitest', 'run', ...projects.flatMap((project) => ['--project', project])],
)
