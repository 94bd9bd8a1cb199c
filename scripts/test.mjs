// Everything that must pass: types, lint, format and every test.
import { provideForTests } from './pack/install.mjs'
import { run, runTogether } from './run.mjs'

await runTogether(['tsc', '--noEmit'], ['oxlint'], ['oxfmt', '--check'])
process.env.CORDAGE_PROPERTY_RUNS = '2000'
// Whole programs are tested as people get them, and once; what they get is made meanwhile.
const sources = runTogether(['vitest', 'run', '--project', '!compose', '--project', '!e2e'])
await provideForTests()
await sources
run('vitest', ['run', '--project', 'packed'])
