import type { Agent } from '@cordage/core/agent'
import { HarnessError } from '@cordage/core/error'
import type { Context } from '@cordage/core/kernel'
import type { Message } from '@cordage/core/message'
import {
  capture,
  request as requestHook,
  type CaptureInput,
  requestError,
  type Answer,
  type RequestErrorInput,
  type RequestErrorResult,
  type RequestInput,
} from '@cordage/core/loop'
import { createAssembler, sideCall, type SideAnswer, type SideCallInput } from '@cordage/core/model'
import type { ApprovalAnswer, ApprovalRequest } from '@cordage/core/policy'
import {
  compactionEnd,
  compactionSummary,
  inboxSplice,
  sessionDirectory,
  type Fact,
  type toolResult,
} from '@cordage/core/session'
import { execute, postExecute, type CallContext } from '@cordage/core/tool'
import type { Decisions } from './decisions.ts'
import type { Divergence } from './divergence.ts'
import type { RecordedAttempt, RecordedStep, RecordedTurn } from './recording.ts'

const OUTERMOST = { order: -1_000_000 }
const INNERMOST = { order: 1_000_000 }

/** Results that say nothing of what a tool would have given. */
const unfinished = new Set([
  'ABORTED',
  'ABORTED_BEFORE_DISPATCH',
  'TOOL_NOT_STARTED',
  'TOOL_OUTCOME_UNKNOWN',
])
/** Results that a call has without its tool being asked. */
const refusals = new Set(['TOOL_DENIED', 'UNKNOWN_TOOL', 'INVALID_ARGS'])

export interface PlayerOptions {
  readonly recorded: RecordedTurn
  readonly agent: Agent
  /** What is different about a request, if anything. */
  readonly compare: (
    input: RequestInput,
    attempt: RecordedAttempt,
    played: ReadonlySet<string>,
  ) => Promise<Pick<Divergence, 'before' | 'after' | 'bytes'> | undefined>
  readonly decisions: Decisions
}

/**
 * Stands where the model and the bodies of tools are, and gives what the log holds. All else is
 * done by the tree: its prompt, its hooks and its decisions. A turn ends after the step that is
 * the first one with a divergence.
 */
export class Player {
  readonly divergences: Divergence[] = []
  /** Requests that were compared. */
  requests = 0
  /** Calls whose results came from the log. */
  readonly played = new Set<string>()
  /** The log holds no more of this turn, or what follows a divergence would mean nothing. */
  stopped = false
  readonly #options: PlayerOptions
  /** How many summaries of the turn are done, and those that were made. */
  #summaries = 0
  readonly #summarised = new Set<string>()
  #step = 0

  constructor(options: PlayerOptions) {
    this.#options = options
  }

  /** Acts for one agent until `ctx` unloads. */
  attach(ctx: Context): void {
    const { decisions, agent } = this.#options
    requestHook.use(ctx, (input) => this.#answer(input), INNERMOST)
    requestError.use(ctx, (input, next) => this.#retry(input, next), OUTERMOST)
    capture.use(ctx, (input) => this.#captured(input), INNERMOST)
    sideCall.use(ctx, (input) => this.#aside(input), INNERMOST)
    execute.use(ctx, (call) => this.#result(call), INNERMOST)
    postExecute.use(
      ctx,
      async (ended, next) => {
        const result = this.#call(ended)?.result
        return result ? { content: resultContent(result), isError: result.part.isError } : next()
      },
      OUTERMOST,
    )
    ctx.get('approvals')?.answerer(ctx, async (asked) => this.#approve(asked), OUTERMOST)
    agent.session.watch(ctx, (update) => {
      if (update.kind !== 'fact' || this.stopped) return
      this.#endSummary(update.fact)
      const found = decisions.judge(update.fact, this.#recordedStep(), this.played)
      if (found) this.#diverge(found)
    })
  }

  /** Compares how the turn ended. */
  finish(reason: string, message: string | undefined): void {
    if (this.stopped || this.divergences.length > 0) return
    const { steps, end } = this.#options.recorded
    const further = [...steps.keys()].filter((step) => step > this.#step)
    const after = message === undefined ? reason : `${reason}: ${message}`
    if (further.length > 0) {
      this.#diverge({ kind: 'turn', before: `goes on with step ${further[0]}`, after })
    } else if (end && end.reason !== reason) {
      this.#diverge({ kind: 'turn', before: end.reason, after })
    }
  }

  async #answer(input: RequestInput): Promise<Answer> {
    const { recorded, compare } = this.#options
    // Another turn begins by itself where more input waits; it is replayed in its own time.
    if (input.turn !== recorded.turn) throw this.#stop()
    const step = recorded.steps.get(input.step)
    if (this.divergences.length > 0 && input.step !== this.#step) throw this.#stop()
    this.#step = input.step
    const attempt = step?.attempts[input.attempt - 1]
    if (!step || !attempt) throw this.#over(input)
    if (input.attempt === 1) {
      this.requests += 1
      const difference = await compare(input, attempt, this.played)
      if (difference) this.#diverge({ kind: 'request', ...difference })
    }
    return this.#replay(step, attempt)
  }

  /** What stood after a message, whatever has become since of what it was taken from. */
  #captured({ step, row, message }: CaptureInput): readonly Message[] {
    const { messages = [] } = this.#options.recorded.steps.get(step) ?? {}
    const after = messages.slice(messages.findIndex(({ id }) => id === message.id) + 1)
    const end = after.findIndex(({ source }) => source.kind !== 'plugin' || source.row !== row)
    return end < 0 ? after : after.slice(0, end)
  }

  /** Titles are no part of a turn: without an answer a session keeps what it has. */
  #aside({ purpose }: SideCallInput): SideAnswer {
    if (purpose !== 'title') return this.#summary()
    throw new HarnessError({ code: 'CANCELLED', message: 'A replay asks for no title.' })
  }

  /** What a model made a summary of, or that it made none. */
  #summary(): SideAnswer {
    const made = this.#options.recorded.summaries[this.#summaries]
    if (!made) {
      this.#diverge({ kind: 'turn', before: 'does not compact', after: 'compacts' })
      throw this.#stop()
    }
    const { text, usage } = made
    const assembler = createAssembler({})
    if (text !== undefined) assembler.push({ type: 'text', text })
    if (usage) assembler.push({ type: 'usage', usage })
    if (text !== undefined) assembler.push({ type: 'finish', reason: 'stop' })
    return { answer: assembler.finish() }
  }

  /** Several calls may have been made for one; a compaction that only cut results made none. */
  #endSummary(fact: Fact): void {
    if (compactionSummary.is(fact)) this.#summarised.add(fact.data.id)
    if (!compactionEnd.is(fact)) return
    if (fact.data.error || this.#summarised.has(fact.data.id)) this.#summaries += 1
  }

  /** The tree asks the model once more than the log does. */
  #over({ step, attempt }: RequestInput): Error {
    const { end } = this.#options.recorded
    const ended = end?.reason ?? 'interrupted'
    const asks = attempt > 1 ? `tries step ${step} again` : `goes on with step ${step}`
    // A turn that somebody or something cut short says nothing about what would have followed.
    if (ended === 'completed' || ended === 'blocked' || attempt > 1) {
      if (!['aborted', 'interrupted', 'budget'].includes(ended)) {
        this.#diverge({ kind: 'turn', before: ended, after: asks })
      }
    }
    return this.#stop()
  }

  async #replay(step: RecordedStep, { answer, failure }: RecordedAttempt): Promise<Answer> {
    if (answer) {
      await this.#deliver(step)
      const { message, finish, usage, replay } = answer
      const { content } = message
      return {
        content,
        finish,
        usage,
        replay,
        hasText: content.some((part) => part.type === 'text' && part.text.trim() !== ''),
        hasReasoning: content.some((part) => part.type === 'reasoning'),
        truncated: finish === 'max-tokens',
      }
    }
    if (!failure || ['CANCELLED', 'INTERRUPTED'].includes(failure.error.code)) throw this.#stop()
    const { code, message, retryable, rejected } = failure.error
    throw new HarnessError({ code, message, retryable, details: { rejected } })
  }

  /** What came into the inbox while the step ran, and which model was chosen for the next one. */
  async #deliver({ inbox, step }: RecordedStep): Promise<void> {
    const facts = inbox.map((data) => inboxSplice(data))
    const { agent, recorded } = this.#options
    if (facts.length > 0) await agent.session.append(facts)
    agent.choice = recorded.steps.get(step + 1)?.choice ?? agent.choice
  }

  async #retry(
    input: RequestErrorInput,
    next: () => Promise<RequestErrorResult>,
  ): Promise<RequestErrorResult> {
    const verdict = await next()
    const { failure } = this.#recordedStep()?.attempts[input.attempt - 1] ?? {}
    if (this.stopped || !failure) return { kind: 'fail' }
    const after = `after ${input.error.code}`
    const words = (again: boolean, model?: string) => {
      if (!again) return `gives up ${after}`
      return model === undefined ? `tries again ${after}` : `goes on with ${model} ${after}`
    }
    const retries = verdict.kind === 'retry'
    const then = words(failure.retryInMs !== undefined, failure.nextModel)
    const now = words(retries, retries ? verdict.model : undefined)
    if (then !== now) this.#diverge({ kind: 'turn', before: then, after: now })
    return retries ? { ...verdict, delayMs: 0 } : verdict
  }

  async #result(call: CallContext): Promise<unknown> {
    const { id: callId, name: tool } = call.call
    const recorded = this.#call(call)
    const { result, cwd } = recorded ?? {}
    const code = result?.error?.code
    if (!result || unfinished.has(code ?? '')) throw this.#stop()
    const found = this.#options.decisions.run(call.call, recorded)
    if (found) this.#diverge(found)
    if (code !== undefined && refusals.has(code)) {
      const before = result.error?.message ?? code
      const kind = code === 'TOOL_DENIED' ? 'policy' : 'tool'
      this.#diverge({ kind, tool, callId, before, after: 'would run' })
      throw this.#stop()
    }
    this.played.add(callId)
    if (cwd !== undefined) await this.#options.agent.session.append([sessionDirectory({ cwd })])
    if (result.error) throw new HarnessError({ ...result.error })
    return result.value ?? null
  }

  #approve({ actor }: ApprovalRequest): ApprovalAnswer | undefined {
    const decided = this.#recordedStep()?.calls.get(actor.callId ?? '')?.decided
    if (!decided) return undefined
    const { outcome, by, scope, reason } = decided
    const optional = { ...(scope ? { scope } : {}), ...(reason === undefined ? {} : { reason }) }
    return { outcome, by, ...optional }
  }

  #recordedStep(): RecordedStep | undefined {
    return this.#options.recorded.steps.get(this.#step)
  }

  #call({ call, step }: CallContext) {
    return this.#options.recorded.steps.get(step)?.calls.get(call.id)
  }

  #diverge(found: Omit<Divergence, 'turn' | 'step'>): void {
    if (this.stopped || this.divergences.some(({ kind }) => kind === found.kind)) return
    this.divergences.push({ turn: this.#options.recorded.turn, step: this.#step, ...found })
  }

  /** Ends the turn; what it is made to throw is heard by nobody. */
  #stop(): Error {
    this.stopped = true
    void this.#options.agent.cancel('the replay is over')
    return new HarnessError({ code: 'CANCELLED', message: 'The replay is over.' })
  }
}

function resultContent({ part }: Parameters<typeof toolResult>[0]) {
  return part.content.filter((piece) => piece.type === 'text' || piece.type === 'image')
}
