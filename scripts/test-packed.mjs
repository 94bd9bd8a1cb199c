// Packs, installs the tarballs into an empty folder, and tests what is there as a person has it.
import { delimiter, join } from 'node:path'
import { installNodes, providePacked } from './pack/install.mjs'
import { run } from './run.mjs'

const folder = providePacked()
process.env.CORDAGE_NODES = installNodes(join(folder, 'nodes')).join(delimiter)
run('vitest', ['run', '--project', 'packed', ...process.argv.slice(2)])
