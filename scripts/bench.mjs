// Measures the sources and the packed product.
import { providePacked } from './pack/install.mjs'
import { run } from './run.mjs'

providePacked()
run(process.execPath, ['test/bench/run.ts'])
