import { defineErrors } from '@cordage/core/error'

export const fail = defineErrors('tool-edit', {
  EDIT_NOT_FOUND: {
    message: 'edit {number}: old_string is not in {path}: {closest}. Nothing was changed.',
  },
  EDIT_AMBIGUOUS: {
    message:
      'edit {number}: old_string is {count} times in {path}, at lines {lines}. Give more ' +
      'lines around it, or set replace_all. Nothing was changed.',
  },
  EDIT_NO_CHANGE: {
    message: 'edit {number}: old_string and new_string are the same, so {path} stays as it is.',
  },
})
