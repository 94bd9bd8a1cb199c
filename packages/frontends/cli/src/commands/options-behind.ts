import type { Command, Option } from 'commander'

/**
 * Options may stand before the command, as people know it of git and docker: commander would take
 * them for options of a task, and the command for its words. They are moved behind the command.
 */
export function optionsBehind(args: readonly string[], program: Command): string[] {
  const run = program.commands.find((command) => command.name() === 'run')
  const known = [...(run?.options ?? []), ...program.options]
  let at = 0
  while (at < args.length && args[at]?.startsWith('-')) {
    const option = optionOf(args[at] ?? '', known)
    // What is unknown, help and version are for commander, and so is what follows "--".
    if (option === undefined) return [...args]
    at += takesNext(args[at] ?? '', option) ? 2 : 1
  }
  const behind = pathLength(args.slice(at), program)
  const own = args.slice(0, at)
  return [...args.slice(at, at + behind), ...own, ...args.slice(at + behind)]
}

function optionOf(word: string, known: readonly Option[]): Option | undefined {
  const [name] = word.split('=', 1)
  return known.find(({ long, short }) => name === long || name === short)
}

function takesNext(word: string, { required }: Option): boolean {
  return required && !word.includes('=')
}

/** How many of the words are names of commands, one inside of the other. */
function pathLength(words: readonly string[], command: Command): number {
  const inner = command.commands.find((child) => child.name() === words[0])
  return inner === undefined ? 0 : 1 + pathLength(words.slice(1), inner)
}
