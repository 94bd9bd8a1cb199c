import type { Command } from 'commander'
import { cliError } from './errors.ts'

interface Level {
  /** The words that lead there: `` for the program itself, `sessions list` for a command. */
  readonly path: string
  readonly words: readonly string[]
}

/** The script that lets a shell complete commands and options. */
export function completionScript(shell: string, program: Command): string {
  const levels = levelsOf(program, [])
  switch (shell) {
    case 'bash':
      return bash(levels)
    case 'zsh':
      return `#compdef cordage\nautoload -U +X bashcompinit && bashcompinit\n${bash(levels)}`
    case 'fish':
      return fish(levels)
    default:
      throw cliError('USAGE', { reason: 'Completion is there for bash, zsh and fish.' })
  }
}

function levelsOf(command: Command, path: readonly string[]): Level[] {
  const inner = command.commands.map((child) => child.name())
  const options = command.options.flatMap(({ long }) => long ?? [])
  const below = command.commands.flatMap((child) => levelsOf(child, [...path, child.name()]))
  return [{ path: path.join(' '), words: [...inner, ...options, '--help'] }, ...below]
}

function bash(levels: readonly Level[]): string {
  const cases = levels
    .filter(({ path }) => path !== '')
    .map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`)
  return `_cordage() {
  local word path='' words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
    *) words='${levels[0]?.words.join(' ') ?? ''}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _cordage cordage
`
}

function fish(levels: readonly Level[]): string {
  const lines = levels.flatMap(({ path, words }) => {
    const parts = path.split(' ').filter((part) => part !== '')
    const condition =
      parts.length === 0
        ? '__fish_use_subcommand'
        : parts.map((part) => `__fish_seen_subcommand_from ${part}`).join('; and ')
    return words.map((word) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`
      return `complete -c cordage -n '${condition}' ${what}`
    })
  })
  return `${lines.join('\n')}\n`
}
