import { defineErrors } from '@cordage/core/error'

export const bootError = defineErrors('cli-boot', {
  PROFILE_UNKNOWN: {
    message: 'There is no profile "{profile}". {hint}',
    exit: 78,
  },
  PROFILE_INVALID: { message: 'The profile at {folder} cannot be used: {reason}.', exit: 78 },
  BUNDLE_MISSING: {
    message: 'The bundle {bundle} of {file} is not installed. Install it, or take it off the list.',
    exit: 78,
  },
  LAYER_UNREADABLE: { message: 'The layer {file} cannot be read: {reason}.', exit: 78 },
  MANIFEST_INVALID: { message: '{file} cannot be used: {reason}.', exit: 78 },
  PROXY_INVALID: {
    message: '{variable} is no address of a proxy such as http://proxy.example:3128.',
    exit: 78,
  },
  HOME_UNUSABLE: {
    message: 'The home {home} cannot be used: {reason}. Set CORDAGE_HOME to a folder.',
    exit: 78,
  },
  LAST_GOOD_NONE: {
    message: 'No boot of the profile {profile} is on record at {file}. Try --safe.',
    exit: 78,
  },
  PLUGIN_NOT_FOUND: { message: 'there is no file {file}' },
  PLUGIN_IMPORT_MISSING: {
    message: '{file} imports "{import}", which is not there for it to import',
  },
  PLUGIN_TYPESCRIPT: {
    message:
      '{file} is TypeScript below node_modules, which does not run. The package has to ship ' +
      'JavaScript; a plugin given by its path may be TypeScript',
  },
  KERNEL_MISMATCH: {
    message: 'cordis {found} is installed, but this version runs on {wanted}. Install again.',
    exit: 78,
  },
})
