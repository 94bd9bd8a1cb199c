import type { Context, Scope } from '../kernel/index.ts'
import type { ToolSpec } from '../session/index.ts'
import type { Tool } from './tool.ts'

/** Why a registered tool is not offered in a step. */
export interface ToolStatus {
  readonly name: string
  readonly row: string
  readonly offered: boolean
  readonly reason?: string
}

/** The tools of one step: frozen, by stability and name, the same for every attempt. */
export interface ResolvedToolSet {
  readonly tools: ReadonlyMap<string, Tool>
  readonly specs: readonly ToolSpec[]
  /** The row of each tool. */
  readonly rows: ReadonlyMap<string, string>
  readonly status: readonly ToolStatus[]
}

/** `ctx.tools` */
export interface Tools {
  /** Characters of text that one result may bring into the conversation. */
  readonly maxInlineChars: number
  /** Adds `tool` until `ctx` unloads; from an agent's scope only that agent has it. */
  register<Args, Value>(ctx: Context, tool: Tool<Args, Value>): void
  resolve(
    scope: Scope,
    input: { provider: string; model: string; input: readonly string[] },
  ): ResolvedToolSet
  /** Hides a tool from an agent, whoever registered it, until `ctx` unloads. */
  restrict(ctx: Context, names: readonly string[], reason: string): void
}

declare module '@cordage/core/kernel' {
  interface Services {
    tools: Tools
  }
}
