import { stripVTControlCharacters } from 'node:util'

const MAX_LINE = 8_192
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f]/g

/**
 * Turns the bytes of one stream into the text that a person would see at the end: escape
 * sequences removed, lines that were redrawn with `\r` shown as last drawn, invalid UTF-8 replaced.
 * Holds back the unfinished line, so the lines of two streams never mix.
 */
export class LineCleaner {
  readonly #decoder = new TextDecoder('utf-8')
  #line = ''

  push(bytes: Uint8Array): string {
    return this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The rest, when the stream has ended. */
  end(): string {
    const text = this.#take(this.#decoder.decode())
    const rest = clean(this.#line)
    this.#line = ''
    return text + rest
  }

  #take(text: string): string {
    const lines = (this.#line + text).split('\n')
    this.#line = lines.pop() ?? ''
    let out = lines.map((line) => `${clean(line)}\n`).join('')
    if (this.#line.length > MAX_LINE) {
      // The last characters may be half an escape sequence or a `\r` whose `\n` is on its way.
      const cut = this.#line.length - 64
      out += clean(this.#line.slice(0, cut))
      this.#line = this.#line.slice(cut)
    }
    return out
  }
}

function clean(line: string): string {
  const drawn = line.replace(/\r+$/, '')
  const last = drawn.slice(drawn.lastIndexOf('\r') + 1)
  return stripVTControlCharacters(last).replace(controls, '')
}
