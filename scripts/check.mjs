// The quick check: types, lint, format, unit and contract tests, composition, crashes, tidiness.
import { run } from './run.mjs'

run('tsc', ['--noEmit'])
run('oxlint', [])
run('oxfmt', ['--check'])
const projects = ['unit', 'compose', 'simulation', 'tidy']
run('vitest', ['run', ...projects.flatMap((project) => ['--project', project])])
