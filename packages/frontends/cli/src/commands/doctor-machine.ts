import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe } from '@cordage/core/error'
import { logFileOf, version } from '../boot/installation.ts'
import type { ComposeRequest } from '../boot/layers.ts'
import { proxyOf } from '../boot/proxy.ts'
import { credentialFileOf, credentialReader } from '../credential/credential-file.ts'
import type { Check } from './doctor-check.ts'

const GB = 1024 ** 3
const LITTLE_BYTES = GB
const TOO_LITTLE_BYTES = GB / 20

/** What can be said before anything starts: Node, the home, the disk, the kept keys. */
export function checkMachine({ home, profile, env }: ComposeRequest): Check[] {
  return [
    { what: 'cordage', state: 'ok', detail: `${version}, profile ${profile}` },
    { what: 'node', state: 'ok', detail: `${process.version} at ${process.execPath}` },
    checkHome(home),
    checkDisk(home),
    checkKept(home),
    ...checkProxy(env),
    { what: 'log', state: 'ok', detail: logFileOf(home) },
    { what: 'ports', state: 'ok', detail: 'none is listened on' },
  ]
}

function checkProxy(env: ComposeRequest['env']): Check[] {
  const proxy = proxyOf(env)
  if (proxy === undefined) return []
  const { variable, used } = proxy
  const detail = used
    ? `requests go through that of ${variable}`
    : `${variable} is set, but this Node goes past it; take Node 24`
  return [{ what: 'proxy', state: used ? 'ok' : 'failed', detail }]
}

function checkHome(home: string): Check {
  const what = 'home'
  try {
    accessSync(nearest(home), constants.W_OK)
  } catch {
    // Which reason the system gives helps nobody: the folder has to be writable.
    return { what, state: 'failed', detail: `${home} cannot be written to; set CORDAGE_HOME` }
  }
  const mode = process.geteuid === undefined ? 0 : (modeOf(home) ?? 0)
  const remedy = `chmod 700 ${home}`
  if ((mode & 0o022) !== 0) {
    return { what, state: 'failed', detail: `${home} can be changed by others: ${remedy}` }
  }
  if ((mode & 0o044) !== 0) {
    return { what, state: 'partial', detail: `${home} can be listed by others: ${remedy}` }
  }
  return { what, state: 'ok', detail: home }
}

function checkDisk(home: string): Check {
  const { bavail, bsize } = statfsSync(nearest(home))
  const free = bavail * bsize
  const state = free < TOO_LITTLE_BYTES ? 'failed' : free < LITTLE_BYTES ? 'partial' : 'ok'
  return { what: 'disk', state, detail: `${(free / GB).toFixed(1)} GB free for the home` }
}

function checkKept(home: string): Check {
  const what = 'kept keys'
  try {
    const count = Object.keys(credentialReader(home)()).length
    const detail = count === 0 ? 'none' : `${count} in ${credentialFileOf(home)}`
    return { what, state: 'ok', detail }
  } catch (error) {
    return { what, state: 'failed', detail: describe(error).message }
  }
}

// The home is made when it is needed first, so that the nearest folder above it decides.
function nearest(folder: string): string {
  let at = folder
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  return at
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode
}
