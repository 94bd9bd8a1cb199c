import { describe } from '../error/index.ts'
import { createRegistry, type Entry } from '../kernel/index.ts'
import { estimateTokens } from '../model/index.ts'
import { promptError } from './errors.ts'
import type {
  AssembledPrompt,
  Prompt,
  PromptContext,
  PromptInput,
  PromptPart,
  PromptSection,
} from './prompt.ts'

const stabilities = ['stable', 'per-session', 'volatile'] as const

/** Sections and contexts by scope; what is stable stands first, so that prefixes stay the same. */
export function createPrompt(): Prompt {
  const sections = createRegistry<PromptSection>('prompt section')
  const contexts = createRegistry<PromptContext>('prompt context')

  return {
    section: (ctx, section) => {
      sections.add(ctx, section.id, section, { order: section.order ?? 0 })
    },
    context: (ctx, context) => {
      contexts.add(ctx, context.id, context, { order: context.order ?? 0 })
    },
    async assemble(scope, input): Promise<AssembledPrompt> {
      const ordered = orderedSections(sections.listOwn(scope))
      const written = await renderAll(ordered, input)
      const snapshots = await renderAll(contexts.listOwn(scope), input)
      return {
        system: written.map((part) => part.text).join('\n\n'),
        sections: written,
        contexts: snapshots,
      }
    },
  }
}

/** The last `complete` section stands alone; the others come by stability, order and id. */
function orderedSections(entries: Entry<PromptSection>[]): Entry<PromptSection>[] {
  const complete = entries.findLast((entry) => entry.value.complete)
  if (complete) return [complete]
  return stabilities.flatMap((stability) =>
    entries.filter((entry) => (entry.value.stability ?? 'stable') === stability),
  )
}

async function renderAll(
  entries: readonly Entry<PromptSection | PromptContext>[],
  input: PromptInput,
): Promise<PromptPart[]> {
  const parts: PromptPart[] = []
  for (const { id, row, value } of entries) {
    const text = await render(id, row, value, input)
    if (text) parts.push({ id, row, text, tokens: estimateTokens(text) })
  }
  return parts
}

async function render(
  id: string,
  row: string,
  part: PromptSection | PromptContext,
  input: PromptInput,
): Promise<string | undefined> {
  try {
    return await part.render(input)
  } catch (cause) {
    throw promptError('PROMPT_FAILED', { row, id, reason: describe(cause).message }, { cause })
  }
}
