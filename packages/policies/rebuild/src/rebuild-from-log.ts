import type { PluginContext } from '@cordage/core/kernel'
import type { RequestInput } from '@cordage/core/loop'
import { digest, requestMessages } from '@cordage/core/session'

/**
 * Opens the log as a resume would and makes the body of the request again. Returns why it is not
 * the one whose digest was logged, or nothing, also where the log has gone on meanwhile.
 */
export async function rebuildFromLog(
  { sessions, models }: PluginContext<'sessions' | 'models'>,
  { agent, request, digest: logged }: RequestInput,
): Promise<string | undefined> {
  const expected = agent.session.nextSeq
  const view = await sessions.open(agent.session.id, { mode: 'read' })
  try {
    const { provider, model } = request
    const header = view.requestHeader
    if (!header) return 'the log on the disk has no request header'
    const messages = requestMessages(view.surface, request).slice(0, request.messages.length)
    const { tools, params } = header
    const getBlob = (hash: string) => view.getBlob(hash)
    const { route } = models.resolve(`${provider}/${model}`)
    const body = await route.body({ provider, model, messages, tools, params, getBlob })
    if (digest(JSON.stringify(body)) === logged) return undefined
    const wentOn = view.nextSeq !== expected || agent.session.nextSeq !== expected
    return wentOn ? undefined : 'the log on the disk gives another body'
  } finally {
    await view.close()
  }
}
