import { defineErrors } from '@cordage/core/error'

export const pluginError = defineErrors('cli-plugin', {
  PLUGIN_REFUSED: { message: '{plugin} cannot be used: {reason}', exit: 78 },
  PLUGIN_UNKNOWN: { message: 'The profile {profile} has no plugin "{plugin}". {hint}', exit: 2 },
  PLUGIN_BUSY: {
    message:
      'Process {pid} is changing the plugins of the profile {profile}. Try again when it ends.',
    exit: 75,
  },
  PLUGIN_NPM_FAILED: {
    message: '`{command}` failed: {reason} Nothing was changed.',
    exit: 1,
  },
  PLUGIN_FOLDER_REFUSED: {
    message: 'Nothing can be made in {folder}: {reason}. Give another --directory.',
    exit: 2,
  },
  MIGRATION_REJECTED: {
    message: '{file} stays as it is, since it would not compose after the migration: {reason}',
    exit: 78,
  },
})
