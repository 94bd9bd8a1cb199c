import { Context as Container } from 'cordis'
import { containerOf } from './container.ts'
import type { Context, RootContext } from './context.ts'
import { format, type LogSink } from './log.ts'
import { rosterCounts } from './roster.ts'

/** A fresh container whose log goes to `log`, from the first message on. */
export function createRoot(options: { log?: LogSink } = {}): RootContext {
  const root = new Container()
  if (options.log) exportLog(root, options.log)
  return root as RootContext
}

/** What is left in the container; equal before and after a plugin that leaves nothing behind. */
export interface Footprint {
  readonly plugins: number
  readonly services: string[]
  readonly listeners: Record<string, number>
  readonly registrations: Record<string, number>
  readonly disposables: number
}

/** Counts what is registered under the root of `ctx`. */
export function footprint(ctx: Context): Footprint {
  const root = containerOf(ctx.root)
  // oxlint-disable-next-line no-underscore-dangle
  const listeners = Object.entries(root.events._hooks).map(([name, list]) => [name, list.length])
  const services = Reflect.ownKeys(root.reflect.store).map((key) => String(key))
  return {
    plugins: root.registry.size,
    services: services.sort(),
    listeners: Object.fromEntries(listeners),
    registrations: rosterCounts(ctx.root),
    // oxlint-disable-next-line no-underscore-dangle
    disposables: root.fiber._disposables.length,
  }
}

function exportLog(root: Container, sink: LogSink): void {
  const forward = (message: LogMessage): void => {
    const { ts: time, type: level, name, args } = message
    try {
      sink({ time, level, name, text: format(args) })
    } catch {
      // A throwing exporter leaves plugins hanging in LOADING, so a broken sink loses its record.
    }
  }
  for (const message of root.logger.buffer) forward(message)
  root.logger.exporter({ levels: { default: 3 }, export: forward })
}

type LogMessage = Container['logger']['buffer'][number]
