// The quick check: types, lint, format, unit and contract tests, composition, tidiness.
import { run } from './run.mjs'

run('tsc', ['--noEmit'])
run('oxlint', [])
run('oxfmt', ['--check'])
run('vitest', ['run', '--project', 'unit', '--project', 'compose', '--project', 'tidy'])
