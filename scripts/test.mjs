// Everything that must pass: types, lint, format and every test.
import { run } from './run.mjs'

run('tsc', ['--noEmit'])
run('oxlint', [])
run('oxfmt', ['--check'])
// Whole programs are tested as people get them, and once.
process.env.CORDAGE_PROPERTY_RUNS = '2000'
run('vitest', ['run', '--project', '!compose', '--project', '!e2e'])
run(process.execPath, ['scripts/test-packed.mjs'])
