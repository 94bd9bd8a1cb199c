// Packs, installs the tarballs into an empty folder, and tests what is there as a person has it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { installNodes, installPacked } from './pack/install.mjs'
import { run } from './run.mjs'

run(process.execPath, ['scripts/pack.mjs'])
const folder = mkdtempSync(join(tmpdir(), 'cordage-packed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const installation = join(folder, 'installation')
installPacked(installation)
process.env.CORDAGE_PACKED = installation
process.env.CORDAGE_NODES = installNodes(join(folder, 'nodes')).join(delimiter)
run('vitest', ['run', '--project', 'packed', ...process.argv.slice(2)])
