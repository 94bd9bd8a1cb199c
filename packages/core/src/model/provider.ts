import type { Context } from '../kernel/index.ts'
import type { ImageSize, Price } from '../message/index.ts'
import type { ModelEvent } from './event.ts'
import type { ModelRequest } from './request.ts'

/** What a route declares of a model. Defaults apply to ids that nobody declared. */
export interface ModelInfo {
  readonly id: string
  readonly name?: string
  /** Tokens. */
  readonly contextWindow: number
  /** Tokens of one answer. */
  readonly maxTokens: number
  readonly input: readonly ('text' | 'image')[]
  /** Level -> value on the wire; `null` omits the field. Absent: the model takes no effort. */
  readonly efforts?: Readonly<Record<string, string | null>>
  readonly price?: Price
  /** What it takes for an image, in tokens, where that is known; else 1,600 are assumed. */
  readonly imageTokens?: number
  /** `in-history`: a new system prompt may be appended after history. Default `front`. */
  readonly systemPromptUpdate?: 'front' | 'in-history'
  /** False when the facts above are defaults for an id that is not declared. */
  readonly declared: boolean
}

/** A route to models: one provider id, one protocol, one base URL. */
export interface ModelProvider {
  /** Lower case, unique: the part of a model's name before the slash. */
  readonly id: string
  readonly displayName: string
  readonly api: string
  readonly baseURL?: string
  /** The name of the credential, where one is needed. */
  readonly apiKeyEnv?: string
  /** True when the answers are recorded: frontends say so plainly. */
  readonly scripted?: boolean
  /** What its server takes for an image of this size, in tokens, unless the model declares it. */
  imageTokens?(size: ImageSize): number
  /** Where its requests go now, for the log. */
  endpoint?(): string
  /** A credential or a base URL of this route exists, so that it may be the default. */
  available(): boolean
  /** Never throws: unknown ids get declared defaults. */
  info(model: string): ModelInfo
  declared(): readonly ModelInfo[]
  /** The ids that the server lists. Normalised errors as in `stream`. */
  list(signal: AbortSignal): Promise<readonly string[]>
  /**
   * The body that will be sent, as JSON data: a pure function of the request, what does not change
   * first and the messages last, so that it begins as the one before. Parts that are frozen are
   * frozen through and through; one that was in the body before is not written down again.
   */
  body(request: ModelRequest): Promise<unknown>
  /**
   * Sends `body` and yields what comes back. Throws `HarnessError` with a code of `modelErrors`,
   * never a raw body, header or key; on cancel it ends promptly with the signal's reason.
   */
  stream(
    request: ModelRequest,
    body: unknown,
    options: { signal: AbortSignal },
  ): AsyncIterable<ModelEvent>
}

/** `<provider>/<model id>`; the id may contain further slashes. */
export interface ModelName {
  readonly provider: string
  readonly model: string
}

export interface ResolvedModel extends ModelName {
  readonly route: ModelProvider
  readonly info: ModelInfo
}

/** What models are wanted for. */
export const modelRoles = ['main', 'summary', 'title'] as const

/** `ctx.models` */
export interface Models {
  /** Throws `MODEL_WINDOW_TOO_SMALL` for a model whose answer may take all of its window. */
  register(ctx: Context, provider: ModelProvider, options?: { order?: number }): void
  providers(): readonly ModelProvider[]
  /** Throws `MODEL_NAME_INVALID`, `MODEL_PROVIDER_UNKNOWN` (with the nearest names). */
  resolve(name: string): ResolvedModel
  /**
   * Gives a role (`main`, `summary`, `title`) its models until `ctx` unloads: the first is meant, the
   * others take its place when it fails. Throws `MODEL_NAME_INVALID`; a role has one such list.
   */
  assign(ctx: Context, role: string, names: readonly string[]): void
  /** The models of a role, as `<provider>/<model id>`; none where nobody assigned any. */
  chain(role: string): readonly string[]
  /**
   * The model for a role, `main` unless given: of those assigned to it and then of those of `main`
   * the first whose route has a credential or base URL; else the first provider, in order, that has
   * one, with its first declared model. Throws as `resolve` for an assigned one.
   */
  default(role?: string): ResolvedModel | undefined
}

declare module '@cordage/core/kernel' {
  interface Services {
    models: Models
  }
}
