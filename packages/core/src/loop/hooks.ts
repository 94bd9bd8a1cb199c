import type { Agent } from '../agent/index.ts'
import { defineHook } from '../kernel/index.ts'
import type { Message } from '../message/index.ts'
import type { ModelRequest, ResolvedModel } from '../model/index.ts'
import type { Failure, InboxEntry, TurnEndReason } from '../session/index.ts'
import type { Answer } from './answer.ts'

export interface PreStepInput {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly model: ResolvedModel
  /** What the step would claim; it stays in the inbox until the step has begun. */
  readonly entries: readonly InboxEntry[]
  /** What would enter the conversation, in order. */
  readonly messages: readonly Message[]
  readonly signal: AbortSignal
}

export type PreStepResult =
  | { readonly kind: 'enter'; readonly messages: readonly Message[] }
  /** The entries are held with this reason until somebody edits or releases them. */
  | { readonly kind: 'reject'; readonly reason: string }

/** Before a step: compaction, instructions, reminders and checks act here. */
export const preStep = defineHook<PreStepInput, PreStepResult>('agent/pre-step')

export interface CaptureInput {
  readonly agent: Agent
  readonly step: number
  /** Whose messages they will be. */
  readonly row: string
  /** What asks for it. */
  readonly message: Message
  readonly signal: AbortSignal
}

/**
 * Around what a row takes from outside of the session to stand after a message: files, other
 * sessions. A replay answers with what the log has.
 */
export const capture = defineHook<CaptureInput, readonly Message[]>('agent/capture')

export interface RequestInput {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  readonly attempt: number
  /** Frozen and logged already: a handler may wait, refuse (throw) or observe, never change it. */
  readonly request: ModelRequest
  /** SHA-256 of the JSON of its body, as `attempt/start` has it. */
  readonly digest: string
  readonly signal: AbortSignal
}

/** Around one attempt at a request. */
export const request = defineHook<RequestInput, Answer>('agent/request')

export interface RequestErrorInput {
  readonly agent: Agent
  readonly turn: number
  readonly step: number
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /** How often this model was tried in a row, this attempt included. */
  readonly tries: number
  readonly model: ResolvedModel
  readonly error: Failure & {
    readonly retryable: boolean
    readonly details: Readonly<Record<string, unknown>>
  }
  /** Some output or a count of tokens had arrived, so that the attempt is charged for. */
  readonly billed: boolean
  readonly signal: AbortSignal
}

export type RequestErrorResult =
  | { readonly kind: 'fail' }
  /** `model`, `<provider>/<model id>`, takes the step and the rest of the turn over. */
  | { readonly kind: 'retry'; readonly delayMs: number; readonly model?: string }

/** After an attempt failed: retries and fail-over decide here. The default is to fail. */
export const requestError = defineHook<RequestErrorInput, RequestErrorResult>('agent/request-error')

export interface TurnStoppingInput {
  readonly agent: Agent
  readonly turn: number
  readonly steps: number
  readonly answer: Message | undefined
  readonly signal: AbortSignal
}

export type TurnStoppingResult =
  | { readonly kind: 'stop'; readonly reason?: Extract<TurnEndReason, 'completed' | 'blocked'> }
  /** Goes on with one more step that begins with this text; bounded by `maxContinuations`. */
  | { readonly kind: 'continue'; readonly text: string }

/** When the model has nothing more to do: checks may ask for more. */
export const turnStopping = defineHook<TurnStoppingInput, TurnStoppingResult>('agent/turn-stopping')
