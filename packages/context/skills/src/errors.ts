import { defineErrors } from '@cordage/core/error'

export const skillError = defineErrors('context-skills', {
  SKILL_UNKNOWN: { message: 'No skill has the name or the words "{name}". {hint}' },
  SKILL_FOR_PEOPLE: { message: 'The skill {name} is loaded by people only, with /{name}.' },
  SKILL_MALFORMED: { message: 'The skill {name} cannot be loaded from {path}: {reason}.' },
})
