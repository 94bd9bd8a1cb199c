// Packs, installs the tarballs into an empty folder, and tests what is there as a person has it.
import { provideForTests } from './pack/install.mjs'
import { run } from './run.mjs'

await provideForTests()
// No more workers than cores: two hundred kills have four minutes, whoever else is there.
run('vitest', ['run', '--project', 'packed', '--maxWorkers', '100%', ...process.argv.slice(2)])
