import { defineErrors } from '@cordage/core/error'

export const exportError = defineErrors('cli-export', {
  EXPORT_EXISTS: {
    message: '{path} is there already and was left as it is; choose another name, or pass --force.',
    exit: 2,
  },
  EXPORT_FAILED: { message: '{path} cannot be written: {reason}. Nothing of it was kept.' },
})
