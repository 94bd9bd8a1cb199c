// Everything that must pass: types, lint, format and every test.
import { run } from './run.mjs'

run('tsc', ['--noEmit'])
run('oxlint', [])
run('oxfmt', ['--check'])
// Where everything runs, whole programs are tested as people get them, and once.
const all = process.env.CI !== undefined
run('vitest', ['run', ...(all ? ['--project', '!compose', '--project', '!e2e'] : [])])
run(process.execPath, ['scripts/test-packed.mjs', ...(all ? [] : ['test/packed'])])
