import { stripVTControlCharacters } from 'node:util'

const MAX_LINE = 8_192
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/
const allControls = new RegExp(controls, 'g')

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
    const pending = this.#line + text
    const end = pending.lastIndexOf('\n') + 1
    let out = cleanLines(pending.slice(0, end))
    this.#line = pending.slice(end)
    if (this.#line.length > MAX_LINE) {
      // The last characters may be half an escape sequence or a `\r` whose `\n` is on its way.
      const cut = this.#line.length - 64
      out += clean(this.#line.slice(0, cut))
      this.#line = this.#line.slice(cut)
    }
    return out
  }
}

/** Most output needs no cleaning, and looking once is many times faster than at each line. */
function cleanLines(text: string): string {
  return controls.test(text) ? text.split('\n').map(clean).join('\n') : text
}

function clean(line: string): string {
  const drawn = line.replace(/\r+$/, '')
  const last = drawn.slice(drawn.lastIndexOf('\r') + 1)
  return stripVTControlCharacters(last).replace(allControls, '')
}
