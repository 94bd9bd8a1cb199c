import { defineErrors } from '@cordage/core/error'

export const fail = defineErrors('tool-read', {
  READ_DIRECTORY: { message: '{path} is a directory; use list to see what is in it.' },
  READ_BINARY: {
    message: '{path} is a binary file of {size} bytes, which cannot be shown as text.',
  },
  READ_TOO_LARGE: {
    message: '{path}: {what} of {size} bytes is too large to read, at most {max} bytes.',
  },
  READ_PAST_END: {
    message: '{path} has only {count} {unit}, so nothing is at offset {offset}.',
  },
  READ_PDF_FAILED: { message: 'The text of {path} could not be extracted: {reason}.' },
})
