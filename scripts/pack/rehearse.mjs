import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run, systemPath } from '../run.mjs'
import { install } from './install.mjs'
import { readPackages, root } from './packages.mjs'

/**
 * Gives `publish` the flags with which npm publishes to a registry that lives only for this, then
 * installs `cordage` from there by its name and lets it check itself.
 */
export async function rehearse(publish) {
  const folder = mkdtempSync(join(tmpdir(), 'cordage-rehearsal-'))
  const server = spawnRegistry()
  process.on('exit', () => {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  })
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data')
  server.stdout.destroy()
  server.unref()
  const { href, host } = new URL(line.trim())
  publish(['--registry', href, `--//${host}/:_authToken=none`])
  install(folder, ['cordage', '--registry', href])
  process.env.CORDAGE_HOME = join(folder, 'home')
  run(process.execPath, [join(folder, 'node_modules/cordage/bin/cordage.js'), 'config', 'check'])
}

/** In a process of its own: this one waits for npm. */
function spawnRegistry() {
  const env = { ...process.env, PATH: systemPath() }
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { env, encoding: 'utf8' })
  const script = join(root, 'scripts/pack/registry.mjs')
  const args = [script, upstream.trim(), ...readPackages().map(({ manifest }) => manifest.name)]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}
