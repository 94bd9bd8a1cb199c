import type { RequestInput } from '@cordage/core/loop'
import type { ModelProvider, ModelRequest } from '@cordage/core/model'
import type { PromptPart } from '@cordage/core/prompt'
import {
  digest,
  requestMessages,
  type RequestHeader,
  type Session,
  type SurfaceEntry,
} from '@cordage/core/session'
import { align } from './align.ts'
import type { Divergence } from './divergence.ts'
import { pathOfDifference, textDifference } from './first-difference.ts'
import type { RecordedAttempt } from './recording.ts'
import { whereOf, type Side } from './where.ts'

type Difference = Pick<Divergence, 'before' | 'after' | 'bytes'>

export interface ComparisonOptions {
  readonly session: Session
  /** The log up to the request. */
  readonly recorded: () => Side
  readonly route: (name: string) => ModelProvider
  /** The route as other trees have it: perhaps the one that made the recorded bytes. */
  readonly olderRoutes: (name: string) => AsyncIterable<ModelProvider>
  readonly isCommon: (entry: SurfaceEntry) => boolean
  readonly sections: (input: RequestInput) => Promise<readonly PromptPart[]>
  readonly onSurrounding: (id: string) => void
}

/** Compares the body that the tree would send with the one that was sent. */
export async function compareRequest(
  options: ComparisonOptions,
  input: RequestInput,
  { start }: RecordedAttempt,
  played: ReadonlySet<string>,
): Promise<Difference | undefined> {
  const { session, isCommon } = options
  const before = options.recorded()
  const live = input.agent.session
  const aligned = align(before.surface, live.surface, { played, isCommon })
  for (const id of aligned.surroundings) options.onSurrounding(id)
  const after = { surface: aligned.entries, header: live.requestHeader as RequestHeader }
  const body = await bodyOf(options.route(nameOf(after)), after, session)
  const text = JSON.stringify(body)
  const wanted = start.data.digest
  if (digest(text) === wanted) return undefined
  const sent = await recordedBody(options, before, wanted)
  const old = JSON.stringify(sent.body)
  if (old === text && (wanted === undefined || !sent.exact)) {
    return wanted === undefined ? undefined : unknownBytes(before, wanted, digest(text))
  }
  const path = pathOfDifference(sent.body, body) ?? []
  const sections = await options.sections(input)
  const where = whereOf(path, body, { before, after, sections })
  const bytes = { ...textDifference(old, text), where, path: path.join('.') }
  return { before: bytes.before, after: bytes.after, bytes }
}

/** The same messages, tools and parameters: the route itself writes another body than it did. */
function unknownBytes(before: Side, wanted: string, now: string): Difference {
  const about = `the body that ${nameOf(before)} makes of the same request`
  return { before: `${about}: ${wanted}`, after: `${about}: ${now}` }
}

/** What was sent, by whichever tree still writes it so; else as the present one would. */
async function recordedBody(
  { session, route, olderRoutes }: ComparisonOptions,
  before: Side,
  wanted: string | undefined,
): Promise<{ body: unknown; exact: boolean }> {
  const name = nameOf(before)
  let own: unknown
  try {
    own = await bodyOf(route(name), before, session)
    if (wanted === undefined || digest(JSON.stringify(own)) === wanted) {
      return { body: own, exact: true }
    }
  } catch {
    // A route that is gone makes no body; another tree may still have it.
  }
  for await (const other of olderRoutes(name)) {
    const body = await bodyOf(other, before, session)
    if (digest(JSON.stringify(body)) === wanted) return { body, exact: true }
  }
  return { body: own, exact: false }
}

async function bodyOf(route: ModelProvider, side: Side, session: Session): Promise<unknown> {
  const { provider, model, tools, params } = side.header
  const messages = requestMessages(side.surface, { provider, model })
  const getBlob = (hash: string) => session.getBlob(hash)
  const request: ModelRequest = { provider, model, messages, tools, params, getBlob }
  return route.body(request)
}

function nameOf({ header }: Side): string {
  return `${header.provider}/${header.model}`
}
