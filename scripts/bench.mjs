// Measures the sources and the packed product, or the rows that are named.
import { run } from './run.mjs'

run(process.execPath, ['test/bench/run.ts', ...process.argv.slice(2)])
