/**
 * What a sentence is about, in English, Chinese and, where it is simple, Japanese. None takes more
 * than a few passes over a text, whoever wrote it.
 */

export const PROHIBITS = anyOf(
  /\b(?:never|(?:do not|don['’]t)(?! forget)|must not|mustn['’]t|may not|shall not|without|avoid|forbidden)\b/,
  /不要(?!忘)|不得|不能|不许|不可|禁止|切勿|严禁|别(?:动|改|碰|用|删)/,
  /ないで(?!し?ょ|す)|てはいけ|禁止|ないこと/,
)
export const ACCEPTS = anyOf(
  /\b(?:acceptance|done when|definition of done|should pass|must pass|expect(?:ed|s)?)\b/,
  /验收|完成标准|通过条件|算完成|受け入れ|完了条件/,
)
export const REQUIRES = anyOf(/\b(?:must|only|always)\b/, /必须|只能|务必|始终|必ず/)
/** Owed later: by the one who was asked, or by the one who promised. */
export const OBLIGES = anyOf(
  /\b(?:remember to|make sure|don['’]t forget|do not forget|be sure to|have to|need(?:s)? to)\b/,
  /\b(?:afterwards|i(?:['’]ll| will)\b.{0,80}\b(?:later|after|once|before|then))\b/,
  /记得|别忘|不要忘|完成后|做完后|之后(?:再|要|还|我会)|稍后/,
  /忘れずに|あとで|後で/,
)
export const CONFIRMS = anyOf(
  /\b(?:confirmed|verified|root cause|turns out|measured|reproduced|fyi|note that)\b/,
  /确认|核实|查明|根因|实测|原因是|已知/,
  /確認(?:済み|した|しました)|原因は|判明/,
)
/** Whoever says so has confirmed nothing. */
export const DOUBTS = anyOf(
  /\b(?:not (?:yet )?(?:been )?(?:confirmed|verified|reproduced|measured)|unconfirmed|unverified)\b/,
  /\b(?:may|might|maybe|perhaps|probably|(?:to|must|should|can) be (?:confirmed|verified))\b/,
  /未(?:经)?(?:确认|核实)|没有?(?:确认|核实)|待确认|尚未|可能|也许|未確認|かもしれ/,
)
export const BLOCKS = anyOf(
  /\b(?:blocked|blocker|waiting (?:for|on)|(?:cannot|can['’]t|unable to) (?:proceed|continue|go on))\b/,
  /阻塞|受阻|卡住|卡在|无法继续|等待.{0,20}(?:确认|提供|授权|批准|回复)/,
  /ブロック|続行できません|待ちです/,
)
export const UNBLOCKS = anyOf(
  /\b(?:unblocked|no longer blocked|not blocked|blockers? (?:is|are|was) (?:resolved|gone)|no blockers?)\b/,
  /不再阻塞|解除阻塞|阻塞已|没有阻塞|ブロック(?:は)?解消/,
)

export const EXACT = new RegExp(
  anyOf(
    /`[^`\n]{2,200}`/,
    /https?:\/\/[^\s)\]}'"<>]+/,
    /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{12,64}\b/,
    /\b[A-Z][A-Z0-9]+-\d+\b/,
    /(?<![\w.@/-])(?:\.{0,2}\/)?[\w.@-]{1,120}(?:\/[\w.@-]{1,120}){1,40}/,
  ),
  'giu',
)
/** What stands between the brackets of a signature, and what it gives. */
const TAKES = /\([^()\n]{0,200}\)/.source
const GIVES = /\s*(?::|->)\s*[\w$<>[\]|]{1,80}/.source
const DECLARES = /\b(?:function|class|interface|type|def|fn|func|struct|enum)\s+/.source
const NAME = /[A-Za-z_$][\w$]{0,80}/.source

/** Signatures and endpoints: what other code holds on to. */
export const INTERFACE = new RegExp(
  anyOf(
    /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) \/[^\s，。；、）)]*/,
    new RegExp(`${DECLARES}${NAME}(?:${TAKES}(?:${GIVES})?)?`, 'u'),
    new RegExp(`\\b${NAME}(?:\\.${NAME}){0,8}${TAKES}${GIVES}`, 'u'),
  ),
  'gu',
)
export const TESTS = /\b(?:tests?|vitest|jest|mocha|pytest|tox|ctest|check|lint|tsc|npm t)\b/iu
export const OPEN_BOX = /^[^\S\n]*[-*][^\S\n]+\[ \][^\S\n]+(.+)$/gmu
export const TICKED_BOX = /\[[xX]\]/

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'), 'iu')
}
