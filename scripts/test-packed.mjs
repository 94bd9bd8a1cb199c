// Packs, installs the tarballs into an empty folder, and tests what is there as a person has it.
import { provideForTests } from './pack/install.mjs'
import { run } from './run.mjs'

await provideForTests()
run('vitest', ['run', '--project', 'packed', ...process.argv.slice(2)])
