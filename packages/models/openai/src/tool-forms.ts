import { type ModelRequest, WireCache, wireName } from '@cordage/core/model'

type Tool = ModelRequest['tools'][number]

/** Tools as a protocol has them: the same objects as long as the tools are. */
export class ToolForms<Form extends object> {
  readonly #forms = new WireCache<Form>()
  readonly #marked: boolean
  readonly #make: (tool: Tool) => Form

  /** `marked` puts a cache marker at the last one. `make` gets each under its name on the wire. */
  constructor(marked: boolean, make: (tool: Tool) => Form) {
    this.#marked = marked
    this.#make = make
  }

  of(tools: readonly Tool[]): Form[] {
    return tools.map((tool, at) => {
      const last = this.#marked && at === tools.length - 1
      const key = last ? 'marked' : ''
      const mark = last ? { cache_control: { type: 'ephemeral' } } : {}
      const make = () => ({ ...this.#make({ ...tool, name: wireName(tool.name) }), ...mark })
      return this.#forms.find(tool, key) ?? this.#forms.keep(tool, key, make())
    })
  }
}
