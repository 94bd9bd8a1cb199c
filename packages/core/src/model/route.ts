import { z } from 'zod'
import { wrongInBaseURL } from './base-url.ts'
import type { ModelRequest } from './request.ts'
import { modelError } from './errors.ts'
import type { ModelInfo } from './provider.ts'

const DEFAULT_CONTEXT_WINDOW = 128_000
const DEFAULT_MAX_TOKENS = 8_192
/** Of a window that is smaller than the default was made for. */
const DEFAULT_MAX_SHARE = 0.25

const price = z.strictObject({
  /** US dollars for a million tokens, as everywhere below. */
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
})

const efforts = z.record(z.string(), z.union([z.string(), z.number().transform(String), z.null()]))

const modelFields = z.strictObject({
  id: z
    .string()
    .regex(/^\S+$/, 'a model id has no spaces, in front neither')
    .describe('As the server knows it.'),
  name: z.string().optional().describe('For people.'),
  contextWindow: z.number().int().positive().default(DEFAULT_CONTEXT_WINDOW).describe('Tokens.'),
  maxTokens: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('Tokens of one answer. 8,192 unless given, at most a quarter of the window.'),
  input: z
    .array(z.enum(['text', 'image']))
    .default(['text'])
    .describe('What it takes.'),
  reasoningEfforts: efforts
    .optional()
    .describe('Level of --effort to value on the wire; null (or nothing) omits the field.'),
  price: price.optional(),
  imageTokens: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe('What an image of usual size takes, in tokens. 1,600 unless given.'),
  systemPromptUpdate: z.enum(['front', 'in-history']).optional(),
})

const model = modelFields.superRefine(({ id, contextWindow: window, maxTokens }, { addIssue }) => {
  if (maxTokens === undefined || maxTokens < window) return
  addIssue({
    code: 'custom',
    path: ['maxTokens'],
    message:
      `answers of ${id} may take ${maxTokens} tokens, which leaves nothing of its window of ` +
      `${window} for a request; give a smaller maxTokens, or the true contextWindow`,
  })
})

/** The configuration that every route over HTTP has; an adapter adds its `api` and `compat`. */
export const routeFields = {
  displayName: z.string().describe('For people.'),
  baseURL: z
    .string()
    .refine((url) => wrongInBaseURL(url) === undefined, {
      error: ({ input }) => `the base URL ${wrongInBaseURL(String(input))}`,
    })
    .describe('Without the endpoint (chat/completions, responses, v1/messages).'),
  baseURLEnv: z
    .string()
    .optional()
    .describe('A variable that replaces the base URL where it is set.'),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'give the name of a variable, never the key itself')
    .optional()
    .describe(
      'The variable, or the kept key, that holds the key; without it the route needs none.',
    ),
  order: z
    .number()
    .default(0)
    .describe('The available route with the lowest order is the default, with its first model.'),
  models: z
    .array(model)
    .default([])
    .refine((models) => new Set(models.map(({ id }) => id)).size === models.length, {
      error: 'two models have the same id',
    })
    .describe('What is known of some models; others pass through.'),
  timeoutMs: z
    .number()
    .int()
    .positive()
    .default(600_000)
    .describe('Milliseconds until the head of the answer.'),
}

/** Keys of a record of routes: the part of a model's name before the slash. */
export const routeId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]*$/, 'lower case letters, digits, . _ -')

export type ModelConfig = z.output<typeof model>

/** The models of a configuration as a route declares them. */
export function declareModels(models: readonly ModelConfig[]): ModelInfo[] {
  return models.map(({ reasoningEfforts: efforts, ...config }) => {
    const most = Math.ceil(config.contextWindow * DEFAULT_MAX_SHARE)
    const maxTokens = config.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, most)
    // An absent field is left out, so that infos compare and print well.
    const given = Object.entries({ ...config, maxTokens, efforts }).filter(
      ([, value]) => value !== undefined,
    )
    return { ...(Object.fromEntries(given) as unknown as ModelInfo), declared: true }
  })
}

const withRoutes = z.object({
  providers: z.record(z.string(), z.object({ models: z.array(model) })),
})

/** The models that rows of a composition declare, by `<provider>/<model id>`. */
export function modelsOf(rows: readonly { readonly config: unknown }[]): Map<string, ModelInfo> {
  const routes = rows.flatMap(({ config }) => {
    return Object.entries(withRoutes.safeParse(config).data?.providers ?? {})
  })
  return new Map(
    routes.flatMap(([provider, { models }]) => {
      return declareModels(models).map((info) => [`${provider}/${info.id}`, info] as const)
    }),
  )
}

/** The declared facts of a model, or the defaults for an id that nobody declared. */
export function findModel(declared: readonly ModelInfo[], id: string): ModelInfo {
  return (
    declared.find((info) => info.id === id) ?? {
      id,
      contextWindow: DEFAULT_CONTEXT_WINDOW,
      maxTokens: DEFAULT_MAX_TOKENS,
      input: ['text'],
      declared: false,
    }
  )
}

/** `path` below `baseURL`, which may end with a slash or not. */
export function joinURL(baseURL: string, path: string): string {
  return `${baseURL.replace(/\/+$/, '')}/${path}`
}

/**
 * The effort of a request as it goes on the wire: `undefined` where none was asked for, `null`
 * where the level omits the field. Throws `UNSUPPORTED_REASONING_EFFORT`.
 */
export function resolveEffort(
  request: Pick<ModelRequest, 'provider' | 'model' | 'params'>,
  info: ModelInfo,
): string | null | undefined {
  const { effort } = request.params
  if (effort === undefined) return undefined
  const value =
    info.efforts && Object.hasOwn(info.efforts, effort) ? info.efforts[effort] : undefined
  if (value !== undefined) return value
  const known = info.efforts ? Object.keys(info.efforts) : ['none']
  const name = `${request.provider}/${request.model}`
  throw modelError('UNSUPPORTED_REASONING_EFFORT', { model: name, effort, known })
}
