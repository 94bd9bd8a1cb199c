/** `@path`, after a space or a bracket; a path ends at a space or at a stop of any script. */
const IMPORT = /(?<=^|[\s([（「])@([^\s@`<>()[\]{}"'，。；：！？（）「」、]+)/g
const STOPS = /[.,;:!?]+$/

/** The paths that a text names to be read with it, as written, each once; code names none. */
export function importsIn(text: string): string[] {
  const found = proseOf(text).flatMap((line) => {
    return [...line.matchAll(IMPORT)].map(([, path = '']) => path.replace(STOPS, ''))
  })
  // What has neither is somebody's name.
  return [...new Set(found)].filter((path) => /[./]/.test(path))
}

/** The lines outside of code, fenced or indented, without the code within them. */
function proseOf(text: string): string[] {
  const prose: string[] = []
  let fence: string | undefined
  let before = ''
  for (const line of text.split(/\r\n|[\r\n]/)) {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? []
    const indented = /^(?: {4}|\t)/.test(line) && before === ''
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else if (!indented) prose.push(line.replace(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '``'))
    // A block of indented code goes on until something else is said.
    before = indented ? '' : line.trim()
  }
  return prose
}
