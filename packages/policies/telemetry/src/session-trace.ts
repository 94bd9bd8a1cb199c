import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { addUsage, NO_USAGE, type Usage } from '@cordage/core/message'
import {
  assistantMessage,
  attemptFailed,
  attemptStart,
  requestHeader,
  sessionChild,
  stepEnd,
  stepStart,
  toolCall,
  toolResult,
  turnEnd,
  turnStart,
  type Fact,
  type FactOf,
  type RequestHeader,
  type Spent,
} from '@cordage/core/session'
import { names, OTHER_ERROR, UNKNOWN_TOOL } from './conventions.ts'
import type { Instruments } from './instruments.ts'
import { modelAttributes, serverAttributes, usageAttributes } from './model-attributes.ts'

export interface TraceOptions {
  readonly tracer: Tracer
  readonly instruments: Instruments
  /** By session: the call that a child works on, which its turns belong below. */
  readonly parents: Map<string, Context>
  readonly session: string
  /** The preset. */
  readonly agent: string
  /** What the session's last request had, of one that goes on. */
  readonly header: RequestHeader | undefined
}

interface Open {
  readonly span: Span
  readonly context: Context
  /** Epoch milliseconds. */
  readonly since: number
  /** Of its metrics, too. */
  readonly attributes: Attributes
}

type Data<Definition> = FactOf<Definition>['data']

/**
 * The facts of one session as spans, with the times that the facts have. Each begins with the fact
 * that opens it and ends once: with the one that closes it, or with what it is part of.
 */
export class SessionTrace {
  readonly #options: TraceOptions
  readonly #calls = new Map<string, Open>()
  #header: RequestHeader | undefined
  #turn: Open | undefined
  #step: Open | undefined
  #attempt: Open | undefined
  #usage: Usage | undefined

  constructor(options: TraceOptions) {
    this.#options = options
    this.#header = options.header
  }

  add(fact: Fact): void {
    const { time } = fact
    this.#countOther(fact.data as { readonly spent?: Partial<Spent> } | null)
    if (requestHeader.is(fact)) this.#header = fact.data
    else if (turnStart.is(fact)) this.#beginTurn(fact.data, time)
    else if (turnEnd.is(fact)) this.#endTurn(fact.data, time)
    else if (this.#turn === undefined) return
    else if (stepStart.is(fact)) this.#beginStep(fact.data, time)
    else if (stepEnd.is(fact)) this.#endStep(time)
    else if (attemptStart.is(fact)) this.#beginAttempt(fact.data, time)
    else if (assistantMessage.is(fact)) this.#answered(fact.data, time)
    else if (attemptFailed.is(fact)) this.#failed(fact.data, time)
    else if (toolCall.is(fact)) this.#beginCall(fact.data, time)
    else if (toolResult.is(fact)) this.#endCall(fact.data, time)
    else if (sessionChild.is(fact)) this.#foundChild(fact.data)
  }

  /** Nothing more will come: what is open ends now, and says that this is not its own end. */
  close(time: number): void {
    this.#leave(time)
    this.#options.parents.delete(this.#options.session)
  }

  #leave(time: number): void {
    const open = [this.#attempt, ...this.#calls.values(), this.#step, this.#turn]
    for (const one of open) one?.span.setAttribute(names.unfinished, true)
    this.#endStep(time)
    if (this.#turn) this.#end(this.#turn, time)
    this.#turn = undefined
  }

  #beginTurn({ turn }: Data<typeof turnStart>, time: number): void {
    const { agent, session, parents } = this.#options
    this.#leave(time)
    this.#usage = undefined
    const parent = parents.get(session) ?? ROOT_CONTEXT
    const named = agent === '' ? {} : { [names.agent]: agent }
    this.#turn = this.#begin(`invoke_agent ${agent}`.trimEnd(), parent, time, {
      metric: { [names.operation]: 'invoke_agent', ...named },
      span: { [names.turn]: turn },
    })
  }

  #endTurn({ reason, error }: Data<typeof turnEnd>, time: number): void {
    this.#endStep(time)
    const turn = this.#turn
    if (!turn) return
    this.#turn = undefined
    turn.span.setAttributes({
      [names.turnReason]: reason,
      ...modelAttributes(this.#header),
      ...usageAttributes(this.#usage),
    })
    const failed = error ? error.code : reason === 'interrupted' ? OTHER_ERROR : undefined
    const attributes = this.#end(turn, time, failed)
    const metric = { ...attributes, [names.turnReason]: reason }
    this.#options.instruments.turns.record(seconds(turn, time), metric)
  }

  #beginStep({ turn, step }: Data<typeof stepStart>, time: number): void {
    this.#endStep(time)
    const span = { [names.turn]: turn, [names.step]: step }
    this.#step = this.#begin('step', this.#turn!.context, time, { metric: {}, span })
  }

  #endStep(time: number): void {
    for (const call of this.#calls.values()) this.#end(call, time, OTHER_ERROR)
    this.#calls.clear()
    if (this.#attempt) this.#end(this.#attempt, time, OTHER_ERROR)
    this.#attempt = undefined
    const step = this.#step
    if (!step) return
    this.#step = undefined
    this.#options.instruments.steps.record(seconds(step, time), this.#end(step, time))
  }

  #beginAttempt({ turn, step, attempt, url }: Data<typeof attemptStart>, time: number): void {
    if (this.#attempt) this.#end(this.#attempt, time, OTHER_ERROR)
    const model = modelAttributes(this.#header)
    const { params } = this.#header ?? {}
    const name = `chat ${this.#header?.model ?? ''}`.trimEnd()
    this.#attempt = this.#begin(name, (this.#step ?? this.#turn!).context, time, {
      kind: SpanKind.CLIENT,
      metric: { [names.operation]: 'chat', ...model, ...serverAttributes(url) },
      span: {
        [names.turn]: turn,
        [names.step]: step,
        [names.attempt]: attempt,
        ...(params?.maxTokens === undefined ? {} : { [names.requestMaxTokens]: params.maxTokens }),
        ...(params?.temperature === undefined
          ? {}
          : { [names.requestTemperature]: params.temperature }),
      },
    })
  }

  #answered(data: Data<typeof assistantMessage>, time: number): void {
    const { source } = data.message
    const model = source.kind === 'model' ? { [names.responseModel]: source.model } : {}
    this.#attempt?.span.setAttribute(names.finishReasons, [data.finish])
    this.#endAttempt(time, { ...data, model, failed: data.interrupted ? 'CANCELLED' : undefined })
  }

  #failed({ usage, error }: Data<typeof attemptFailed>, time: number): void {
    this.#endAttempt(time, { usage, model: {}, failed: error.code })
  }

  #endAttempt(
    time: number,
    ended: { usage?: Usage | undefined; model: Attributes; failed: string | undefined },
  ): void {
    const attempt = this.#attempt
    if (!attempt) return
    this.#attempt = undefined
    // The conventions forbid to report tokens that nobody counted.
    const usage = ended.usage?.estimated === true ? undefined : ended.usage
    if (usage) this.#usage = addUsage(this.#usage ?? NO_USAGE, usage)
    attempt.span.setAttributes({ ...ended.model, ...usageAttributes(usage) })
    const metric = this.#end(attempt, time, ended.failed)
    this.#options.instruments.attempts.record(seconds(attempt, time), { ...metric, ...ended.model })
    if (usage) this.#countTokens(usage, { ...attempt.attributes, ...ended.model })
  }

  /** Calls of models that are no attempts: a fact of any type says what they took. */
  #countOther(data: { readonly spent?: Partial<Spent> } | null): void {
    const { usage, provider, model, source } = data?.spent ?? {}
    if (!usage || usage.estimated === true) return
    const attributes = {
      [names.operation]: 'chat',
      ...(provider === undefined ? {} : { [names.provider]: provider }),
      ...(model === undefined ? {} : { [names.requestModel]: model }),
      ...(source === undefined ? {} : { [names.source]: source }),
    }
    this.#countTokens(usage, attributes)
  }

  #countTokens(usage: Usage, attributes: Attributes): void {
    const { tokens } = this.#options.instruments
    tokens.record(usage.inputTokens, { ...attributes, [names.tokenType]: 'input' })
    tokens.record(usage.outputTokens, { ...attributes, [names.tokenType]: 'output' })
  }

  #beginCall({ callId, name }: Data<typeof toolCall>, time: number): void {
    const before = this.#calls.get(callId)
    if (before) this.#end(before, time, OTHER_ERROR)
    const isKnown = this.#header?.tools.some((tool) => tool.name === name) ?? false
    const tool = isKnown ? name : UNKNOWN_TOOL
    const call = this.#begin(`execute_tool ${tool}`, (this.#step ?? this.#turn!).context, time, {
      metric: { [names.operation]: 'execute_tool', [names.tool]: tool },
      span: { [names.toolCall]: callId, [names.toolType]: 'function' },
    })
    this.#calls.set(callId, call)
  }

  #endCall({ callId, error, part }: Data<typeof toolResult>, time: number): void {
    const call = this.#calls.get(callId)
    if (!call) return
    this.#calls.delete(callId)
    const failed = error?.code ?? (part.isError ? OTHER_ERROR : undefined)
    this.#options.instruments.tools.record(seconds(call, time), this.#end(call, time, failed))
  }

  #foundChild({ session, callId }: Data<typeof sessionChild>): void {
    const { context } = this.#calls.get(callId) ?? this.#turn!
    this.#options.parents.set(session, context)
  }

  #begin(
    name: string,
    parent: Context,
    time: number,
    given: { kind?: SpanKind; metric: Attributes; span: Attributes },
  ): Open {
    const { kind = SpanKind.INTERNAL, metric } = given
    const attributes = { ...metric, ...given.span, [names.conversation]: this.#options.session }
    const { tracer } = this.#options
    const span = tracer.startSpan(name, { kind, attributes, startTime: new Date(time) }, parent)
    return { span, context: trace.setSpan(parent, span), since: time, attributes: metric }
  }

  /** Gives the attributes of its metrics. */
  #end({ span, since, attributes }: Open, time: number, failed?: string): Attributes {
    if (failed !== undefined) {
      span.setAttribute(names.errorType, failed)
      // Without the words of the error: they name files.
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    // A clock may have been set back meanwhile.
    span.end(new Date(Math.max(since, time)))
    return failed === undefined ? attributes : { ...attributes, [names.errorType]: failed }
  }
}

function seconds({ since }: Open, time: number): number {
  return Math.max(0, time - since) / 1000
}
