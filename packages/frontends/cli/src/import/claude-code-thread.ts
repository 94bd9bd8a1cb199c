import type { LeftBehind } from './left-behind.ts'
import { recordsOf } from './lines.ts'
import { isRecord, listIn, recordIn, textIn, wordsIn, type Loose } from './loose.ts'

interface Node {
  readonly parent: string | undefined
  readonly sidechain: boolean
  /** Whether a conversation can end with it. */
  readonly spoken: boolean
}

/** Which lines of a transcript are of the conversation as it stands at its end. */
export class ClaudeThreads {
  readonly #nodes = new Map<string, Node>()
  readonly #active = new Set<string>()
  /** Messages of a model come in several lines; those of one message stay together. */
  readonly #activeMessages = new Set<string>()
  readonly #roots = new Map<string, string>()
  readonly #lines = new Map<
    string,
    { readonly uuid: string; readonly calls: readonly string[] }[]
  >()
  readonly #activeCalls = new Set<string>()

  /** Reads the file once; it keeps some hundred bytes of each line. */
  static async of(path: string, left: LeftBehind): Promise<ClaudeThreads> {
    const threads = new ClaudeThreads()
    let before: string | undefined
    let leaf: string | undefined
    for await (const { value } of recordsOf(path, left)) {
      const uuid = textIn(value['uuid'])
      if (uuid === undefined) continue
      const node = threads.#nodeOf(value, before)
      threads.#nodes.set(uuid, node)
      threads.#noteMessage(uuid, value)
      if (node.sidechain) continue
      before = uuid
      if (node.spoken) leaf = uuid
    }
    threads.#activate(leaf)
    return threads
  }

  /** Whether a line belongs to what the model would see today, or saw before a summary. */
  isActive(value: Loose): boolean {
    const uuid = textIn(value['uuid'])
    if (uuid === undefined || this.#active.has(uuid)) return true
    const { id, content } = recordIn(value['message'])
    if (typeof id === 'string') return this.#activeMessages.has(id)
    const answered = listIn(content).map((block) => recordIn(block)['tool_use_id'])
    return answered.some((call) => typeof call === 'string' && this.#activeCalls.has(call))
  }

  /** Names the side conversation that a line is of. */
  sideOf(value: Loose): string | undefined {
    const uuid = textIn(value['uuid'])
    return uuid !== undefined && value['isSidechain'] === true ? this.#rootOf(uuid) : undefined
  }

  knows(uuid: unknown): boolean {
    return typeof uuid === 'string' && this.#nodes.has(uuid)
  }

  #nodeOf(value: Loose, before: string | undefined): Node {
    const given = textIn(value['parentUuid']) ?? textIn(value['logicalParentUuid'])
    const isCut = value['subtype'] === 'compact_boundary' || value['isCompactSummary'] === true
    // A parent that is not there was on a damaged line: then the line before stands for it.
    const lost = given !== undefined && !this.#nodes.has(given)
    const sidechain = value['isSidechain'] === true
    const parent = !sidechain && (lost || (given === undefined && isCut)) ? before : given
    return { parent, sidechain, spoken: value['type'] === 'user' || value['type'] === 'assistant' }
  }

  #noteMessage(uuid: string, { message }: Loose): void {
    const { id, content } = recordIn(message)
    if (typeof id !== 'string') return
    const calls = listIn(content)
      .filter((block) => isRecord(block) && block['type'] === 'tool_use')
      .map((block) => wordsIn(recordIn(block)['id']))
    const known = this.#lines.get(id)
    if (known) known.push({ uuid, calls })
    else this.#lines.set(id, [{ uuid, calls }])
  }

  #activate(leaf: string | undefined): void {
    for (let at = leaf; at !== undefined && !this.#active.has(at);) {
      this.#active.add(at)
      at = this.#nodes.get(at)?.parent
    }
    for (const [id, lines] of this.#lines) {
      if (!lines.some(({ uuid }) => this.#active.has(uuid))) continue
      this.#activeMessages.add(id)
      for (const call of lines.flatMap(({ calls }) => calls)) this.#activeCalls.add(call)
    }
  }

  #rootOf(uuid: string): string {
    const path: string[] = []
    let at = uuid
    for (let root = this.#roots.get(at); root === undefined; root = this.#roots.get(at)) {
      path.push(at)
      this.#roots.set(at, at)
      const parent = this.#nodes.get(at)?.parent
      if (parent === undefined || this.#nodes.get(parent)?.sidechain !== true) break
      at = parent
    }
    const root = this.#roots.get(at) ?? at
    for (const passed of path) this.#roots.set(passed, root)
    return root
  }
}
