import type { PluginFacts } from './vet.ts'

/** What a person should know before the plugin runs. */
export function factsText(facts: PluginFacts): string {
  const { name, version, uses, rows, changes, removes, scripts } = facts
  const lines = [
    `${name} ${version}`,
    `  says that it uses: ${uses.join(', ') || 'nothing'}`,
    `  brings the rows: ${rows.join(', ') || 'none'}`,
    ...(changes.length > 0 ? [`  changes rows of others: ${changes.join(', ')}`] : []),
    ...(removes.length > 0 ? [`  takes rows of others away: ${removes.join(', ')}`] : []),
    ...(scripts.length > 0 ? [`  was not allowed to run its ${scripts.join(', ')} script`] : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

/** What is different in `after`, a line each; none where nothing is. */
export function changeLines(before: PluginFacts, after: PluginFacts): string[] {
  const version =
    before.version === after.version ? [] : [`version: ${before.version} -> ${after.version}`]
  const api = before.api === after.api ? [] : [`api: ${before.api} -> ${after.api}`]
  return [
    ...version,
    ...api,
    ...difference('uses', before.uses, after.uses),
    ...difference('rows', before.rows, after.rows),
    ...difference('changes rows of others', before.changes, after.changes),
    ...difference('takes rows of others away', before.removes, after.removes),
  ]
}

function difference(what: string, before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((one) => !before.includes(one)).map((one) => `+${one}`)
  const gone = before.filter((one) => !after.includes(one)).map((one) => `-${one}`)
  return added.length + gone.length === 0 ? [] : [`${what}: ${[...added, ...gone].join(' ')}`]
}
