/** What a text names with an `@`. */
export interface Mentions {
  /** Ids of sessions, or how they begin, each once. */
  readonly sessions: readonly string[]
  /** Words that may be paths, each once. */
  readonly words: readonly PathWord[]
}

export interface PathWord {
  /** What may be meant, the longest first: what follows a path may touch it. */
  readonly candidates: readonly string[]
}

/** As far in as a person types; what is longer was pasted. */
const MAX_WORD_CHARS = 1_024
/** Before an `@` they make an address, a scope or a part of a path of it. */
const JOINED = String.raw`[\p{Script=Latin}\p{Nd}_.+\/\\@:=%$\-]`
const BROKEN = String.raw`\s"'\x60<>|*?\u3000-\u3003\u3008-\u3011“”‘’，。；：！？、（）…`
const MENTION = new RegExp(
  String.raw`(?<!${JOINED})@(?:session:(?<session>[A-Za-z0-9][\w.-]*)|"(?<quoted>[^"\n]+)"|(?<word>(?:[^@${BROKEN}]|(?<=${JOINED})@)+))`,
  'gu',
)
/** Where text without spaces may begin, and marks that ASCII does not have. */
const SEAM =
  /(?<=[!-~])(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{P}\p{S}])(?=[^!-~])/gu
const CLOSING = /[.,;:!?)\]}]+$/

/** Code that stands in a text, between fences or backticks, names nothing: decorators live there. */
export function mentionsIn(text: string): Mentions {
  const sessions = new Set<string>()
  const words = new Map<string, PathWord>()
  // Nothing else of a long text is looked at where there is no such sign.
  if (!text.includes('@')) return { sessions: [], words: [] }
  for (const { groups = {} } of withoutCode(text).matchAll(MENTION)) {
    const { session, quoted, word } = groups
    if (session !== undefined) sessions.add(session.replace(/[.-]+$/, ''))
    const path = quoted ?? word
    if (path === undefined || path.length > MAX_WORD_CHARS || words.has(path)) continue
    words.set(path, { candidates: quoted === undefined ? candidatesOf(path) : [path] })
  }
  return { sessions: [...sessions], words: [...words.values()] }
}

/** Scripts without spaces go on where a path ends, and so do marks. */
function candidatesOf(word: string): string[] {
  const seams = [...word.matchAll(SEAM)].map(({ index }) => index)
  const ends = [word.length, seams.at(-1), seams[0]].filter((end) => end !== undefined)
  const parts = ends.map((end) => word.slice(0, end))
  const all = parts.flatMap((part) => [part, part.replace(CLOSING, '')])
  return [...new Set(all)].filter((part) => part !== '')
}

function withoutCode(text: string): string {
  const kept: string[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const [, mark, info = ''] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})([^]*)$/.exec(line) ?? []
    if (fence === undefined && mark === undefined) kept.push(line.replaceAll(/`[^`]*`/g, ' '))
    else if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) && info.trim() === '') fence = undefined
  }
  return kept.join('\n')
}
