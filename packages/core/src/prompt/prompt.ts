import type { Context, Scope } from '../kernel/index.ts'
import type { Stability } from '../session/index.ts'

/** What a contributor may know of the step it writes for. */
export interface PromptInput {
  readonly sessionId: string
  readonly project: string
  readonly cwd: string
  readonly provider: string
  readonly model: string
  readonly turn: number
  readonly step: number
  readonly toolNames: readonly string[]
  readonly signal: AbortSignal
}

/**
 * A part of the system prompt. An empty text leaves the part out. `complete` replaces the whole
 * prompt, an empty text included: that clears the effective one. Stable parts come first, then
 * those of the session, then volatile ones; within these by `order` and id.
 */
export interface PromptSection {
  readonly id: string
  /** Default `stable`: one that changes within a session is reported. */
  readonly stability?: Stability
  readonly complete?: boolean
  readonly order?: number
  render(input: PromptInput): string | Promise<string>
}

/**
 * Facts that change (working directory, time): a snapshot with the user's role, logged only when
 * its text differs from the last one still on the surface.
 */
export interface PromptContext {
  readonly id: string
  /** Default `volatile`. Ordered as sections are. */
  readonly stability?: Stability
  readonly order?: number
  render(input: PromptInput): string | undefined | Promise<string | undefined>
}

export interface PromptPart {
  readonly id: string
  readonly row: string
  readonly stability: Stability
  readonly text: string
  /** Estimated. */
  readonly tokens: number
}

export interface AssembledPrompt {
  readonly system: string
  readonly sections: readonly PromptPart[]
  readonly contexts: readonly PromptPart[]
}

/**
 * `ctx.prompt`: contributions of an agent's scope override global ones of the same id, and its
 * children have none of them: what they are told is a matter of their own preset.
 */
export interface Prompt {
  section(ctx: Context, section: PromptSection): void
  context(ctx: Context, context: PromptContext): void
  /** A contributor that throws fails the assembly with `PROMPT_FAILED`, naming its row. */
  assemble(scope: Scope, input: PromptInput): Promise<AssembledPrompt>
}

declare module '@cordage/core/kernel' {
  interface Services {
    prompt: Prompt
  }
}
