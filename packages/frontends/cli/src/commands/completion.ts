import { cliError } from './errors.ts'

/**
 * Each script asks the very program that is being typed, `cordage __complete <words…>`: one line
 * a candidate, a tab before its description. Where there is none the shell offers files.
 */
const scripts: Readonly<Record<string, string>> = {
  bash: `_cordage() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _cordage cordage
`,
  zsh: `#compdef cordage
_cordage() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe cordage found; else _files; fi
}
compdef _cordage cordage
`,
  fish: `function __cordage_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c cordage -a '(__cordage_complete)'
`,
}

export function completionScript(shell: string): string {
  const script = scripts[shell]
  if (script !== undefined) return script
  throw cliError('USAGE', { reason: 'Completion is there for bash, zsh and fish.' })
}
