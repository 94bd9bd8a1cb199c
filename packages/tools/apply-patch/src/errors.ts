import { defineErrors } from '@cordage/core/error'

export const fail = defineErrors('tool-apply-patch', {
  PATCH_INVALID: {
    message: 'The patch cannot be read at line {line}: {reason}. Nothing was changed.',
  },
  PATCH_MISMATCH: {
    message:
      'The patch does not fit: {reason}{more}. Nothing was changed; read the files again and ' +
      'copy the lines around each change exactly.',
  },
})
