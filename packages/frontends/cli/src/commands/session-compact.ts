import { exitOfSignal, listenForSignals } from '../signals.ts'
import { cliError } from './errors.ts'
import type { GlobalOptions } from './options.ts'
import { completeId } from './session-id.ts'
import { withHarness } from './with-harness.ts'

/**
 * Compacts a session that nobody works in, whatever its size, by the model it used last. Throws
 * `SESSION_BUSY` while another process owns it, and what `/compact` does.
 */
export async function compactSession(given: string, options: GlobalOptions): Promise<number> {
  return withHarness(options, async ({ ctx }) => {
    const [sessions, agents, commands] = [
      ctx.get('sessions'),
      ctx.get('agents'),
      ctx.get('commands'),
    ]
    if (!sessions || !agents || !commands) {
      throw cliError('USAGE', {
        reason: 'This profile has no agents whose sessions it could compact.',
      })
    }
    const session = await sessions.open(await completeId(ctx, given), { mode: 'write' })
    const header = session.requestHeader
    if (!header) {
      await session.close()
      process.stderr.write('Nothing was asked of a model in this session.\n')
      return 0
    }
    const agent = await agents.spawn({
      session,
      choice: { model: `${header.provider}/${header.model}`, params: header.params },
      authority: { mode: 'read-only', writableRoots: [] },
    })
    const { signal, dispose } = listenForSignals((text) => process.stderr.write(text))
    try {
      const answer = await commands.run('/compact', agent, signal)
      process.stdout.write(`${answer?.text}\n`)
      return 0
    } catch (error) {
      if (signal.aborted) return exitOfSignal(signal)
      throw error
    } finally {
      dispose()
      await agent.close()
    }
  })
}
