/** What people call them. */
const names =
  'pass(?:word|wd|phrase|code)?|pwd|secret|(?:api|access|private)[ _-]?key|token|credentials?|\\bpin'
/** What follows where no secret is told, but where it is and what becomes of it. */
const places =
  'kept|stored|saved|in|at|on|from|read|set|given|rotated|managed|issued|needed|required|optional|' +
  'never|not|always|only|hidden'

/** What secrets look like, each with its name for people. */
const forms: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/],
  ['a token', /\beyJ[\w-]{8,}\.[\w-]{8,}\./],
  ['a key', /\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}/],
  [
    'a key',
    /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|npm|hf|pypi|shpat|SG|ya29)[-_.][\w-]{8,}/,
  ],
  ['a password in an address', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i],
  [
    'an authorization header',
    /\bauthorization\W{1,4}\w+\s+\S{6,}|\b(?:bearer|basic)\s+(?=\S*\d)[\w+/=.~-]{8,}/i,
  ],
  ['a password or key', new RegExp(`(?:${names})\\b["']?\\s*[:=]+\\s*\\S`, 'i')],
  [
    'a password or key',
    new RegExp(`(?:${names})\\s+(?:is|are|was)\\s+(?!(?:${places})\\b)\\S`, 'i'),
  ],
  [
    'a password or key',
    /(?:密码|口令|密钥|私钥|令牌|パスワード|暗証番号|비밀번호)\s*(?:是|为|為|は|는|은|[:：=])\s*(?![放存保])\S/u,
  ],
]

/** Names the secret that a text seems to hold, or `undefined`. */
export function secretIn(text: string): string | undefined {
  // Invisible characters and other widths hide nothing.
  const plain = text.normalize('NFKC').replaceAll(/\p{Cf}/gu, '')
  const form = forms.find(([, pattern]) => pattern.test(plain))
  if (form) return form[0]
  return plain.match(/[\w+/-]{20,}={0,2}/g)?.some(isRandom) ? 'what looks like a key' : undefined
}

/** Characters drawn at random: digits among letters of both cases, or a long hexadecimal number. */
function isRandom(word: string): boolean {
  if (/^[0-9a-f]{32,}$/i.test(word)) return true
  // Of a path or a chain of words each part is judged by itself.
  return word.split(/[/-]/).some((part) => {
    const runs = part.match(/[0-9]+|[A-Z]?[a-z]+|[A-Z]+/g) ?? []
    const isMixed = /[0-9]/.test(part) && /[A-Z]/.test(part) && /[a-z]/.test(part)
    // Words that people join have runs of five letters or so, random ones of one or two.
    return part.length >= 20 && isMixed && part.length / runs.length < 3
  })
}
