import { estimateMessage, imagePrice, type ResolvedModel } from '@cordage/core/model'
import type { SurfaceEntry } from '@cordage/core/session'

/** Sums over a surface from its beginning, kept from look to look: only what is new is added up. */
export class SurfaceSums {
  #surface: readonly SurfaceEntry[] = []
  /** Of which images have their price. */
  #model = ''
  /** Tokens of the first n entries, at n. */
  readonly #sums: number[] = [0]

  /** Brings the sums up to `surface`, as `target` takes it. */
  at(surface: readonly SurfaceEntry[], target: ResolvedModel): this {
    const model = `${target.provider}/${target.model} ${target.info.imageTokens}`
    if (surface === this.#surface && model === this.#model) return this
    const same = model === this.#model ? this.#countSame(surface) : 0
    const price = imagePrice(target)
    this.#sums.length = same + 1
    for (const { message } of surface.slice(same)) {
      this.#sums.push(this.total + estimateMessage(message, price))
    }
    this.#surface = surface
    this.#model = model
    return this
  }

  get total(): number {
    return this.#sums.at(-1) ?? 0
  }

  /** What stands up to the entry of fact `seq`, with it; `undefined` where there is none. */
  upTo(seq: number): number | undefined {
    const at = this.#surface.findLastIndex((entry) => entry.seq === seq)
    return at < 0 ? undefined : this.#sums[at + 1]
  }

  /** From its beginning: what was pruned is another entry at the same place. */
  #countSame(surface: readonly SurfaceEntry[]): number {
    const before = this.#surface
    const most = Math.min(before.length, surface.length)
    let same = 0
    while (same < most && before[same] === surface[same]) same += 1
    return same
  }
}
