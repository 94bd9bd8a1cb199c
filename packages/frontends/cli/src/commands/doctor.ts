import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Harness } from '../boot/boot.ts'
import { jsonText, tableText } from '../print/table.ts'
import type { ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

interface Check {
  readonly what: string
  readonly state: 'ok' | 'partial' | 'missing' | 'failed'
  readonly detail: string
}

/** Says what works here and what does not; 1 when something failed. */
export async function doctor(options: ListOptions): Promise<number> {
  return withHarness(options, async (harness) => {
    const checks = [...machine(harness), ...services(harness), ...models(harness), ...rows(harness)]
    const text = () => tableText(checks.map(({ what, state, detail }) => [state, what, detail]))
    process.stdout.write(options.output === 'json' ? jsonText(checks) : text())
    return checks.some(({ state }) => state === 'failed') ? 1 : 0
  })
}

function machine({ host, logFile, profile }: Harness): Check[] {
  return [
    { what: 'cordage', state: 'ok', detail: `${host.version}, profile ${profile.name}` },
    { what: 'node', state: 'ok', detail: `${process.version} at ${process.execPath}` },
    writable('home', host.home),
    { what: 'log', state: 'ok', detail: logFile },
  ]
}

function writable(what: string, folder: string): Check {
  // It is made when it is needed first, so that the nearest folder above it decides.
  let at = folder
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at)
  try {
    accessSync(at, constants.W_OK)
    return { what, state: 'ok', detail: folder }
  } catch {
    // Which reason the system gives helps nobody: the folder has to be writable.
    return { what, state: 'failed', detail: `${folder} cannot be written to` }
  }
}

function services({ ctx }: Harness): Check[] {
  const store = ctx.get('store')
  const processes = ctx.get('processes')
  const files = ctx.get('fs')
  const checks: Check[] = []
  if (store) checks.push({ what: 'sessions', state: 'ok', detail: store.location })
  if (files) {
    const held = files.guarantee === 'full'
    const detail = held
      ? 'a decided path cannot be swapped before it is used'
      : 'this system cannot hold a directory open: a swapped path could escape a decision'
    checks.push({ what: 'file gate', state: held ? 'ok' : 'partial', detail })
  }
  if (processes) {
    const confined = processes.confinement !== 'none'
    const detail = confined
      ? `${processes.shell.kind}, confined by the system`
      : `${processes.shell.kind}, shell: unconfined: a command can do what you can`
    checks.push({ what: 'commands', state: confined ? 'ok' : 'partial', detail })
  }
  return checks
}

function models({ ctx }: Harness): Check[] {
  const registry = ctx.get('models')
  const chosen = registry?.default()
  const providers = registry?.providers().filter((provider) => provider.scripted !== true) ?? []
  return [
    chosen
      ? { what: 'model', state: 'ok', detail: `${chosen.provider}/${chosen.model}` }
      : { what: 'model', state: 'missing', detail: 'no credential; see `cordage models list`' },
    ...providers.map((provider): Check => {
      const ready = provider.available()
      const detail = ready ? 'a key or a base URL is there' : `set ${provider.apiKeyEnv ?? 'a key'}`
      return { what: provider.displayName, state: ready ? 'ok' : 'missing', detail }
    }),
  ]
}

function rows(harness: Harness): Check[] {
  const report = harness.report()
  const active = report.filter(({ state }) => state === 'active').length
  const others = report.filter(({ state }) => state !== 'active')
  return [
    { what: 'rows', state: 'ok', detail: `${active} of ${report.length} active` },
    ...others.map(({ id, state, reason = '' }): Check => {
      const broken = state === 'failed' || state === 'waiting'
      return { what: id, state: broken ? 'failed' : 'partial', detail: `${state}: ${reason}` }
    }),
  ]
}
