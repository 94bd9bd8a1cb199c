import { problemsOf, type RowReport } from '@cordage/core/compose'
import { footprint, type AnyPlugin } from '@cordage/core/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  openRowBench,
  rowsNeededBy,
  servicesOf,
  type BenchRow,
  type RowBench,
} from './core-rows.ts'

export interface PluginUnderTest {
  readonly plugin: AnyPlugin
  /** One that it takes. Default: an empty one. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Further ones that it refuses; one with an unknown field is always tried. */
  readonly badConfigs?: readonly Readonly<Record<string, unknown>>[]
  /** Rows that provide what it injects beyond the services of core, by id. */
  readonly rows?: Readonly<Record<string, AnyPlugin>>
}

const ID = 'under-test'
const ROUNDS = 50
/** Whoever boots provides these, whatever the rows are. */
const GIVEN = ['host', 'presets']

/** What every plugin does, mounted as a profile mounts it. Call it at the top of a test file. */
export function pluginContract(name: string, subject: PluginUnderTest): void {
  const { plugin, config = {}, badConfigs = [], rows } = subject
  const needed = rowsNeededBy(plugin, rows)
  const row: BenchRow = { plugin, config }

  describe(`${name} keeps the plugin contract`, () => {
    let bench: RowBench
    beforeEach(async () => {
      bench = await openRowBench()
    })
    afterEach(() => bench[Symbol.asyncDispose]())
    const report = (): RowReport | undefined => bench.composer.report().find(({ id }) => id === ID)

    const injected = servicesOf(plugin, 'inject').filter((service) => !GIVEN.includes(service))
    it.each(injected)('waits for ctx.%s by name, and starts when it is there', async (service) => {
      await bench.apply({ ...without(service, needed), [ID]: { ...row, optional: true } })
      expect(report()).toMatchObject({ state: 'waiting' })
      expect(report()?.needs).toContain(service)
      await bench.apply({ ...needed, [ID]: { ...row, optional: true } })
      expect(report()).toMatchObject({ state: 'active' })
    })

    const unknown = { ...config, 'no such field': true }
    const refused = 'Config' in plugin ? [unknown, ...badConfigs] : badConfigs
    it.each(refused.map((one) => [JSON.stringify(one), one] as const))(
      'refuses the config %s',
      async (_, bad) => {
        const error = await bench
          .apply({ ...needed, [ID]: { plugin, config: bad } })
          .catch((thrown: unknown) => thrown)
        const codes = problemsOf(error).map(({ code, row: id }) => `${id} ${code}`)
        expect(new Set(codes)).toEqual(new Set([`${ID} CONFIG_INVALID`]))
      },
    )

    it(`leaves nothing behind after ${ROUNDS} mounts`, async () => {
      await bench.apply(needed)
      const before = footprint(bench.root)
      for (let round = 0; round < ROUNDS; round++) {
        await bench.apply({ ...needed, [ID]: row })
        expect(report()).toMatchObject({ state: 'active' })
        await bench.apply(needed)
      }
      expect(footprint(bench.root)).toEqual(before)
    })
  })
}

/** The rows that do not provide `service`, each of them allowed to wait for it too. */
function without(
  service: string,
  rows: Readonly<Record<string, BenchRow>>,
): Record<string, BenchRow> {
  const left = Object.entries(rows).filter(
    ([, row]) => !servicesOf(row.plugin, 'provides').includes(service),
  )
  return Object.fromEntries(left.map(([id, row]) => [id, { ...row, optional: true }]))
}
