/** The version of the contracts of `@cordage/core`, which the range `cordage.api` of a plugin meets. */
export const API_VERSION = '1.0.0'
