/** States of networks, servers and runs, which say nothing of the next time. */
const states: readonly RegExp[] = [
  /\btimed[ -]?out\b|\brequest timeout\b|\bgateway time-?out\b/i,
  /\bE(?:TIMEDOUT|CONN\w+|NOTFOUND|AI_AGAIN|PIPE|HOSTUNREACH|NETUNREACH)\b/,
  /\b(?:connection|socket|network)\b.{0,20}\b(?:refused|reset|closed|lost|dropped|failed|hang up|unreachable|down|error)\b/i,
  /\b(?:temporarily|currently|right now)\b.{0,30}\b(?:unavailable|down|offline|failing|broken)\b/i,
  /\b(?:HTTP|status(?: code)?)(?:\/\d(?:\.\d)?)?[ :=]*[45]\d\d\b/i,
  /\b[45]\d\d (?:Bad|Unauthorized|Forbidden|Not Found|Internal|Service|Gateway|Too Many)\b/i,
  /\bservice unavailable\b|\btoo many requests\b|\brate[ -]?limit(?:ed)?\b.{0,20}\b(?:exceeded|hit|reached)\b|\brate[ -]limited\b/i,
  /^Traceback \(most recent call last\)|^\s+at .+[(:]\S*:\d+:\d+\)?$|^\s+File ".+", line \d+/m,
  /^(?:Uncaught )?\w*(?:Error|Exception)(?: \[\w+\])?: /m,
  /panicked at|\bstack ?trace\b|\bsegmentation fault\b|\bcore dumped\b/i,
  /(?:连接|請求|请求|网络|網絡|访问|服务器?|接口|响应)(?:已|被|发生|出现)?(?:超时|超時|重置|拒绝|拒絕|中断|断开|失败|失敗|错误|异常|不可用|不通)(?!时间|時間|[设設改定为為成])/u,
  /(?:超时|超時)(?!时间|時間|[设設改定为為成])|无法(?:连接|访问)|(?:暂时|目前|现在)(?:不可用|无法|宕机)|堆栈|报错|抛出异常/u,
]

/** The words of a text that tell of such a state, or `undefined`. */
export function transientIn(text: string): string | undefined {
  const plain = text.normalize('NFKC')
  for (const state of states) {
    const found = state.exec(plain)
    if (found) return found[0].trim().slice(0, 80)
  }
  return undefined
}
