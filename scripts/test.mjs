// Everything that must pass: types, lint, format and every test.
import { run } from './run.mjs'

run('tsc', ['--noEmit'])
run('oxlint', [])
run('oxfmt', ['--check'])
run('vitest', ['run'])
