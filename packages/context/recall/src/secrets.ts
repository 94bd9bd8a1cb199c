/** What people call them. */
const names =
  'pass(?:wor[dt]|wd|phrase|code)|pwd|secret|(?:api|access|private)[ _-]?key|token|credentials?|' +
  'contraseña|\\bpin'
/** Where more than a word says so: tests pass, too. */
const anyName = `${names}|pass`
const eastern = '密[码碼]|口令|[密私金][钥鑰]|令牌|[权權]杖|パスワード|暗証番号|비밀번호'
/** What follows where no secret is told, but where it is and what becomes of it. */
const places =
  'kept|stored|saved|in|at|on|from|read|set(?! to (?!be\\b|expire))|given|rotated|managed|issued|' +
  'needed|required|optional|never|not|always|only|hidden'
/** One that is told has a digit among its letters, where nothing else says that it is told. */
const value = String.raw`(?=[!-~]*\d)(?=[!-~]*[a-z])[!-~]{5,}`
const end = String.raw`(?=\s*[.,;!?。]|\s*$|\s+(?:of|for|to|on|in|at)\b)`

const named = (pattern: string, flags = 'i') =>
  ['a password or key', new RegExp(pattern, flags)] as const

/** What secrets look like, each with its name for people. */
const forms: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/],
  ['a token', /\beyJ[\w-]{8,}\.[\w-]{8,}\./],
  ['a key', /\b(?:AKIA|ASIA|LTAI|AKID)[A-Za-z0-9]{12,}|\bAIza[\w-]{20,}/],
  [
    'a key',
    /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|npm|hf|pypi|shpat|SG|ya29)[-_.][\w-]{8,}/,
  ],
  ['a password in an address', /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i],
  ['a key in an address', /[?&;][\w-]*(?:key|sig|signature|auth|code)=[^\s&#]{6,}/i],
  [
    'an authorization header',
    /\bauthorization\W{1,4}\w+\s+\S{6,}|\b(?:bearer|basic)\s+(?=\S*\d)[\w+/=.~-]{8,}|\bcookie:\s*\S+=\S{6,}/i,
  ],
  named(String.raw`(?:${anyName})\b["']?(?:\s*\([^)]*\))?\s*(?:[:=]+>?|→)\s*\S`),
  named(
    String.raw`(?:${anyName})(?:\s+(?:for|of|on|in|to|at)\s[^.!?\n]{1,60}?)?` +
      String.raw`\s+(?:is|are|was)\s+(?!(?:${places})(?=[\s.,;!?]|$))\S`,
  ),
  named(String.raw`(?:${names}),?\s+["'“‘]?${value}|\bpin\s+\d{4}`),
  named(
    String.raw`(?<!\S)${value}\s+(?:is|as)\s+(?:the|my|our|its|an?)\s+(?:[\w-]+\s+){0,2}(?:${names})${end}`,
  ),
  named(
    String.raw`(?:${eastern})\s*["“”「]?\s*(?:[就已都还被改设設定换換变變更新]{0,3}[是为為成]|叫|は|는|은|[:=→])了?\s*(?![放存保])\S`,
    'u',
  ),
  named(String.raw`(?:${eastern})\s*["“「]?${value}`, 'iu'),
  named(
    String.raw`(?<![!-~])${value}\s*["”」]?\s*(?:[作当當做][为為作成]|是)[^\s。,;]{0,8}(?:${eastern})${end}`,
    'iu',
  ),
]

/** Names the secret that a text seems to hold, or `undefined`. */
export function secretIn(text: string): string | undefined {
  // Invisible characters and other widths hide nothing.
  const plain = text.normalize('NFKC').replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
  const form = forms.find(([, pattern]) => pattern.test(plain))
  if (form) return form[0]
  return plain.match(/[\w+/-]{20,}={0,2}/g)?.some(isRandom) ? 'what looks like a key' : undefined
}

/** Characters drawn at random: digits among letters, or a long hexadecimal number. */
function isRandom(word: string): boolean {
  // Of a path or a chain of words each part is judged by itself. Base64 has such signs too, and
  // both cases, as ids in a row have not.
  const parts = word.split(/[/+-]/)
  const whole = parts.join('')
  return parts.some((part) => isDrawn(part)) || (/[A-Z]/.test(whole) && isDrawn(whole))
}

function isDrawn(part: string): boolean {
  if (/^[0-9a-f]+$/i.test(part)) return part.length >= 32
  const runs = part.match(/[0-9]+|[A-Z]?[a-z]+|[A-Z]+/g) ?? []
  const isMixed = /[0-9]/.test(part) && /[a-z]/.test(part)
  // Words that people join have runs of five letters or so, random ones of one or two.
  return part.length >= 20 && isMixed && part.length / runs.length < 3
}
