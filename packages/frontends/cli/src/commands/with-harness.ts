import type { LogSink } from '@cordage/core/kernel'
import { boot, type Harness } from '../boot/boot.ts'
import { lineOf } from '../boot/log-file.ts'
import { bootOptionsOf, type GlobalOptions } from './options.ts'

/** Shows log records as they come, for --debug. */
export const logToStderr: LogSink = (record) => void process.stderr.write(lineOf(record))

/** Boots the chosen profile for one command and closes it whatever happens. */
export async function withHarness<T>(
  options: GlobalOptions,
  use: (harness: Harness) => Promise<T>,
): Promise<T> {
  const log = options.debug ? { log: logToStderr } : {}
  const harness = await boot({ ...bootOptionsOf(options), ...log })
  try {
    return await use(harness)
  } finally {
    await harness.close()
  }
}
