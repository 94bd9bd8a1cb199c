import { describe } from '../error/index.ts'
import { assert, createRegistry, type Context, type Entry } from '../kernel/index.ts'
import { estimateTokens } from '../model/index.ts'
import { stabilities, type Stability } from '../session/index.ts'
import { promptError } from './errors.ts'
import type {
  AssembledPrompt,
  Prompt,
  PromptContext,
  PromptInput,
  PromptPart,
  PromptSection,
} from './prompt.ts'
import { StableTexts } from './stable-texts.ts'

type Part = PromptSection | PromptContext

/** Sections and contexts by scope; what is stable stands first, so that prefixes stay the same. */
export function createPrompt(ctx: Context): Prompt {
  const stable = new StableTexts(ctx)
  const sectionsOf = createRegistry<PromptSection>('prompt section')
  const contextsOf = createRegistry<PromptContext>('prompt context')

  return {
    section: (ctx, section) => {
      checkStability(section)
      sectionsOf.add(ctx, section.id, section, { order: section.order ?? 0 })
    },
    context: (ctx, context) => {
      checkStability(context)
      contextsOf.add(ctx, context.id, context, { order: context.order ?? 0 })
    },
    async assemble(scope, input): Promise<AssembledPrompt> {
      const parts = async (entries: Entry<Part>[], otherwise: Stability) => {
        const written = await renderAll(byStability(entries, otherwise), input, otherwise)
        stable.check(scope, input.sessionId, written)
        return [...written.values()].filter(({ text }) => text !== '')
      }
      const sections = await parts(effective(sectionsOf.listOwn(scope)), 'stable')
      const contexts = await parts(contextsOf.listOwn(scope), 'volatile')
      return { system: sections.map(({ text }) => text).join('\n\n'), sections, contexts }
    },
  }
}

/** A part of no known stability would have no place in any prompt. */
function checkStability({ id, stability = 'stable' }: Part): void {
  const known = `it is ${stabilities.join(', ')}`
  assert(stabilities.includes(stability), `prompt part ${id} is declared "${stability}": ${known}`)
}

/** The last `complete` section stands alone. */
function effective(entries: Entry<PromptSection>[]): Entry<PromptSection>[] {
  const complete = entries.findLast((entry) => entry.value.complete)
  return complete ? [complete] : entries
}

function byStability<T extends Part>(entries: Entry<T>[], otherwise: Stability): Entry<T>[] {
  return stabilities.flatMap((stability) =>
    entries.filter(({ value }) => (value.stability ?? otherwise) === stability),
  )
}

/** What each has written, which may be nothing. */
async function renderAll(
  entries: readonly Entry<Part>[],
  input: PromptInput,
  otherwise: Stability,
): Promise<Map<Entry<Part>, PromptPart>> {
  const written = new Map<Entry<Part>, PromptPart>()
  for (const entry of entries) {
    const { id, row, value } = entry
    const text = await render(id, row, value, input)
    const { stability = otherwise } = value
    written.set(entry, { id, row, stability, text, tokens: estimateTokens(text) })
  }
  return written
}

async function render(id: string, row: string, part: Part, input: PromptInput): Promise<string> {
  try {
    const text = (await part.render(input)) ?? ''
    assert(typeof text === 'string', `what it gave is no text, but of type ${typeof text}.`)
    return text
  } catch (cause) {
    throw promptError('PROMPT_FAILED', { row, id, reason: describe(cause).message }, { cause })
  }
}
