import { reasonOf } from '@cordage/core/kernel'
import { decodeText } from '@cordage/core/tool'
import { parseDocument } from 'yaml'
import { z } from 'zod'

/** What the front of a file says of a skill. */
export interface SkillHead {
  readonly name: string
  readonly description: string
  readonly whenToUse?: string | undefined
  /** Listed for the model, which may load it. */
  readonly forModel: boolean
  /** Loaded by people with `/name`. */
  readonly forPeople: boolean
}

export type ParsedSkill =
  /** `bodyLine` is the number of the first line of the body. */
  | { readonly head: SkillHead; readonly body: string; readonly bodyLine: number }
  | { readonly problem: string }

/** The front of a file is no longer than this. */
export const MAX_HEAD_BYTES = 16_384

const MAX_REASON_CHARS = 200
const FRONT = /^---[ \t]*\r?\n([\s\S]*?\r?\n)?---[ \t]*(?:\r?\n|$)/

const frontmatter = z
  .object({
    name: z
      .string()
      .max(64)
      .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'must be lower-case words joined by "-"'),
    description: z.string().trim().min(1),
    whenToUse: z.string().trim().optional(),
    'disable-model-invocation': z.boolean().default(false),
    'user-invocable': z.boolean().default(true),
  })
  .transform(({ name, description, whenToUse, ...flags }): SkillHead => ({
    name,
    description,
    whenToUse,
    forModel: !flags['disable-model-invocation'],
    forPeople: flags['user-invocable'],
  }))

/** Reads the bytes of a skill, of which only the beginning may be there. */
export function parseSkill(bytes: Uint8Array): ParsedSkill {
  const text = decodeText(bytes)?.text
  if (text === undefined) return { problem: 'it is not a text' }
  const [front = '', yaml = ''] = FRONT.exec(text.slice(0, MAX_HEAD_BYTES)) ?? []
  if (front === '') return { problem: 'it does not begin with a frontmatter between two lines ---' }
  const { value, problem } = parseYaml(yaml)
  if (problem !== undefined) return { problem: `the frontmatter is not valid: ${problem}` }
  const { data, error } = frontmatter.safeParse(value)
  if (data) {
    const bodyLine = front.split('\n').length
    return { head: data, body: text.slice(front.length), bodyLine }
  }
  const [issue] = error.issues
  const path = issue?.path.join('.') ?? ''
  return {
    problem: `the frontmatter is not valid: ${path === '' ? '' : `${path}: `}${issue?.message}`,
  }
}

/** Plain data only: no alias, no tag, no key twice. */
function parseYaml(text: string): { value?: unknown; problem?: string } {
  try {
    const document = parseDocument(text, { schema: 'core', prettyErrors: false })
    const [wrong] = [...document.errors, ...document.warnings]
    if (wrong) return { problem: sentence(wrong.message) }
    return { value: document.toJS({ maxAliasCount: 0 }) as unknown }
  } catch (error) {
    // Aliases, and a nesting that no stack holds.
    return { problem: sentence(reasonOf(error)) }
  }
}

function sentence(message: string): string {
  return message.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)
}
