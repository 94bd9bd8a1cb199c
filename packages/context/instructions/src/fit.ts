/** A file as the model is told of it. */
export interface Instruction {
  readonly path: string
  readonly text: string
}

/** The files of one place that are told together; `left` says what they name and is not there. */
export interface Group {
  readonly id: string
  readonly files: readonly Instruction[]
  readonly left: readonly string[]
}

export interface FittedGroup extends Group {
  /** Paths of files for which there is no room. */
  readonly dropped: readonly string[]
  /** The last file is not whole. */
  readonly cut: boolean
}

/** Leaves out whole files, the first ones first; where one alone is too much, its end. */
export function fit(groups: readonly Group[], maxBytes: number): FittedGroup[] {
  const all = groups.flatMap(({ files }) => files)
  let total = all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  const dropped = new Set<Instruction>()
  for (const file of all.slice(0, -1)) {
    if (total <= maxBytes) break
    dropped.add(file)
    total -= Buffer.byteLength(file.text)
  }
  const long = total > maxBytes ? all.at(-1) : undefined
  return groups.map((group) => ({
    ...group,
    files: group.files
      .filter((file) => !dropped.has(file))
      .map((file) => (file === long ? shorten(file, maxBytes) : file)),
    dropped: group.files.filter((file) => dropped.has(file)).map(({ path }) => path),
    cut: long !== undefined && group.files.includes(long),
  }))
}

function shorten({ path, text }: Instruction, maxBytes: number): Instruction {
  const head = Buffer.from(text).subarray(0, maxBytes)
  // `stream` drops a character that the cut would halve instead of replacing it.
  return { path, text: new TextDecoder().decode(head, { stream: true }) }
}
