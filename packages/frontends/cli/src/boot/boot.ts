import { join, resolve } from 'node:path'
import {
  createComposer,
  type Change,
  type CloseReport,
  type Composer,
  type Composition,
  type LayerSource,
  type RowReport,
} from '@cordage/core/compose'
import {
  createRoot,
  definePlugin,
  describeFailure,
  log,
  mount,
  own,
  type Host,
  type LogRecord,
  type LogSink,
  type RootContext,
} from '@cordage/core/kernel'
import { credentialReader } from '../credential/credential-file.ts'
import type { Rejection } from './follow.ts'
import { homeOf, logFileOf, version } from './installation.ts'
import { assertOneKernel } from './kernel-version.ts'
import { keepLastGood } from './last-good.ts'
import { composeProfile, type ComposedProfile, type ComposeRequest } from './layers.ts'
import { createLoader } from './loader.ts'
import { createLogFile, teeLog } from './log-file.ts'
import { noteComposition } from './note-composition.ts'
import type { Profile } from './profile.ts'
import { realPathOf } from './real-path.ts'
import { createRedactor } from './secrets.ts'
import type { LayerWatch } from './watch.ts'

export interface BootOptions {
  /** A profile's name, or the path of its folder. */
  readonly profile: string
  /** Overlays in order, relative to `cwd`. */
  readonly patches?: readonly string[]
  /** Default `$CORDAGE_HOME` of `env`, else `~/.cordage`. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Leaves out the installation's and home's layers and the overlays. */
  readonly safe?: boolean
  /** Boots the composition of the last boot that succeeded, whatever the layers say now. */
  readonly lastGood?: boolean
  /** Applies layers as they are edited, for what runs long; the default is to read them once. */
  readonly watch?: boolean
  /** Hears of edits that were not taken. */
  readonly onRejected?: (rejection: Rejection) => void
  /** Gets every log record too, secrets hidden. */
  readonly log?: LogSink
  /** Limit for each step of one row: import, activation, teardown. */
  readonly rowTimeoutMs?: number
}

/** A profile that runs. Close it: it holds files, locks and processes. */
export interface Harness {
  readonly ctx: RootContext
  readonly profile: Profile
  /** The one that was applied last. */
  readonly composition: Composition
  readonly host: Host
  readonly logFile: string
  report(): RowReport[]
  /** Calls `listener` after each edit that was applied, until the result is called. */
  onComposed(listener: (change: Change) => void): () => void
  /** Applies layers as they are edited from now on, as `watch` does from the start. */
  follow(): Promise<void>
  /** The last log records, the oldest first. */
  recentLog(): readonly LogRecord[]
  /** Unmounts row by row, bounded; every call returns the same promise. */
  close(): Promise<CloseReport>
}

/**
 * What a boot goes by, with every default filled in. The policy protects places by their resolved
 * paths, so that a home which is a symbolic link has to be resolved before anybody asks.
 */
export function composeRequestOf(options: BootOptions): ComposeRequest {
  const env = options.env ?? process.env
  const cwd = realPathOf(resolve(options.cwd ?? process.cwd()))
  const home = options.home === undefined ? homeOf(env) : resolve(cwd, options.home)
  return {
    profile: options.profile,
    patches: options.patches ?? [],
    home: realPathOf(home),
    env,
    cwd,
    safe: options.safe ?? false,
    lastGood: options.lastGood ?? false,
  }
}

/** Composes a profile and mounts it. Throws `COMPOSE_REJECTED` with every problem, and others. */
export async function boot(options: BootOptions): Promise<Harness> {
  const request = composeRequestOf(options)
  return mountProfile({ ...composeProfile(request), request, options })
}

interface Composed extends ComposedProfile {
  readonly request: ComposeRequest
  readonly options: Pick<BootOptions, 'log' | 'rowTimeoutMs' | 'watch' | 'onRejected'>
}

/** Mounts what `composeProfile` gave. */
export async function mountProfile(composed: Composed): Promise<Harness> {
  const { request, profile, layers, composition, options } = composed
  assertOneKernel()
  const { home, env, cwd } = request
  const host: Host = { env, home, cwd, version, credentials: credentialReader(home) }
  let root: RootContext | undefined
  const redact = createRedactor(env, () => root)
  const logFile = createLogFile(logFileOf(home), redact)
  const also = options.log
  root = createRoot({
    log: teeLog(logFile.sink, also && ((record) => also({ ...record, text: redact(record.text) }))),
  })
  const timeoutMs = options.rowTimeoutMs ?? 10_000
  const live = { composition, listeners: new Set<(change: Change) => void>() }
  const plugin = hostPlugin(host, () => ({ profile: profile.name, composition: live.composition }))
  const hostRow = mount(root, { id: 'host', plugin, config: {}, timeoutMs })
  await hostRow.settled()
  const loader = createLoader(join(home, 'profiles', profile.name))
  const composer = createComposer(root, loader, { rowTimeoutMs: timeoutMs })
  let following: Promise<LayerWatch> | undefined
  let closing: Promise<CloseReport> | undefined
  const followOnce = async () => {
    if (closing) return
    following ??= follow(composed, { root: root, composer, live })
    await following
  }
  const close = async (): Promise<CloseReport> => {
    await (await following)?.close()
    const report = await composer.close()
    if (report.hung.length > 0) log(root, 'warn', 'rows did not stop', { rows: report.hung })
    await hostRow.dispose()
    return report
  }
  const closeOnce = () => (closing ??= close())
  try {
    log(root, 'info', 'starting', { version, profile: profile.name, node: process.version, cwd })
    await composer.apply(composition)
    noteLastGood(root, home, profile.name, layers)
    if (options.watch === true) await followOnce()
  } catch (error) {
    log(root, 'error', 'not started', { error: describeFailure(error) })
    await closeOnce()
    throw error
  }
  return {
    ctx: root,
    profile,
    get composition() {
      return live.composition
    },
    host,
    logFile: logFile.file,
    report: () => composer.report(),
    onComposed(listener) {
      live.listeners.add(listener)
      return () => void live.listeners.delete(listener)
    },
    follow: followOnce,
    recentLog: logFile.recent,
    close: closeOnce,
  }
}

interface Live {
  composition: Composition
  readonly listeners: ReadonlySet<(change: Change) => void>
}

async function follow(
  running: Composed,
  { root, composer, live }: { root: RootContext; composer: Composer; live: Live },
): Promise<LayerWatch> {
  // What runs short has no use for it.
  const { followLayers } = await import('./follow.ts')
  const { request, options } = running
  return followLayers({
    request,
    running,
    root,
    composer,
    onComposed({ profile, layers, composition }, change) {
      live.composition = composition
      noteLastGood(root, request.home, profile.name, layers)
      for (const listener of live.listeners) tell(root, () => listener(change))
    },
    onRejected: (rejection) => tell(root, () => options.onRejected?.(rejection)),
  })
}

/** What a listener throws is its own mistake, and no reason to take back an edit. */
function tell(root: RootContext, listener: () => void): void {
  try {
    listener()
  } catch (error) {
    log(root, 'error', 'a listener of compositions failed', { error: describeFailure(error) })
  }
}

/** Overlays are for one run, so that a boot with one is no measure for the next. */
function noteLastGood(
  root: RootContext,
  home: string,
  profile: string,
  layers: readonly LayerSource[],
): void {
  if (layers.some(({ kind }) => kind === 'overlay')) return
  try {
    keepLastGood(home, profile, layers)
  } catch (error) {
    log(root, 'warn', 'the composition could not be kept', { error: describeFailure(error) })
  }
}

function hostPlugin(host: Host, running: Parameters<typeof noteComposition>[1]) {
  return definePlugin({
    name: 'host',
    provides: ['host'],
    apply(ctx) {
      own(ctx, 'host', host)
      noteComposition(ctx, running)
    },
  })
}
