import type { Host } from '@cordage/core/kernel'

const ALLOWED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TERM', 'TMPDIR']
const ALLOWED_WINDOWS =
  'PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC TEMP TMP USERNAME USERPROFILE APPDATA ' +
  'LOCALAPPDATA PROGRAMFILES PROGRAMDATA'

/** The variables of `env` that children may see: an allow-list, `LC_*` and the names in `added`. */
export function selectEnv(env: Host['env'], added: readonly string[]): Record<string, string> {
  const windows = process.platform === 'win32'
  const spell = (name: string) => (windows ? name.toUpperCase() : name)
  const allowed = new Set(
    [...ALLOWED, ...(windows ? ALLOWED_WINDOWS.split(' ') : []), ...added].map(spell),
  )
  const selected: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    if (allowed.has(spell(name)) || name.startsWith('LC_')) selected[name] = value
  }
  return selected
}
