import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { run, runBeside } from '../run.mjs'
import { readJson, root } from './packages.mjs'

export const tarballs = join(root, 'dist-tarballs')

/** Packs and installs; `CORDAGE_PACKED` names what is there until this process ends. */
export function providePacked() {
  run(process.execPath, [join(root, 'scripts/pack.mjs')])
  const installation = join(makeFolder(), 'installation')
  installPacked(installation)
  process.env.CORDAGE_PACKED = installation
}

/** The same for tests, which also need the Nodes that `CORDAGE_NODES` lists. */
export async function provideForTests() {
  const installing = installNodes(join(makeFolder(), 'nodes'))
  providePacked()
  process.env.CORDAGE_NODES = (await installing).join(delimiter)
}

function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'cordage-packed-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** What `npm install cordage` would put there, from the tarballs and with npm alone. */
export function installPacked(folder) {
  const index = readTarballs()
  const files = neededBy('cordage', index).map((name) => join(tarballs, index[name].file))
  install(folder, files)
}

/**
 * Makes the folder a package that has these. Not with `--prefix`, which also moves where npm looks
 * for settings of all users.
 */
export function install(folder, packages) {
  run('npm', prepareInstall(folder, packages), folder)
}

/** What npm has already it need not ask for again. */
const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']

function prepareInstall(folder, packages) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  return ['install', ...QUIET, ...packages]
}

/** By name: the file of its tarball, and the packages of ours that it needs. */
export function readTarballs() {
  return readJson(join(tarballs, 'index.json'))
}

function neededBy(name, index) {
  const seen = new Set()
  const visit = (one) => {
    if (seen.has(one)) return
    seen.add(one)
    index[one].needs.forEach(visit)
  }
  visit(name)
  return [...seen]
}

/** The oldest Node that is promised and the newest one, each as a binary that npm brings. */
async function installNodes(folder) {
  const nodes = NODES.map(([alias, version]) => {
    return `${alias}@npm:node-${process.platform}-${process.arch}@${version}`
  })
  await runBeside('npm', prepareInstall(folder, nodes), folder)
  return NODES.map(([alias]) => join(folder, 'node_modules', alias, 'bin/node'))
}

const NODES = [
  ['node22', '22.19.0'],
  ['node26', '26.10.0'],
]
