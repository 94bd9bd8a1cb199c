import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { adviceOn, preflight } from '../../src/compose/index.ts'
import { definePlugin } from '../../src/kernel/index.ts'
import { composed } from './layers.ts'
import { loaderOf } from './plugins.ts'

const careful = definePlugin({
  name: 'careful',
  config: z.strictObject({ most: z.number().default(7) }),
  advise: ({ most }, rows) => [
    { key: 'most', text: `${most} among ${rows.map(({ id }) => id).join(' ')}.` },
  ],
  apply() {},
})
const broken = definePlugin({
  name: 'broken',
  advise: () => {
    throw new TypeError('no')
  },
  apply() {},
})
const plain = definePlugin({ name: 'plain', apply() {} })

describe('advice', () => {
  const bundle = `- insert:
    - { id: plain, name: plain }
    - { id: off, name: plain, disabled: true }
- preset: standard
  rows:
    - id: careful
      name: careful
      config:
        most: 5
- preset: other
  extends: standard
`

  test('is given at the line of its value, of a row with all that would be mounted beside it', async () => {
    const prepared = await preflight(composed({ bundle }), loaderOf({ careful, plain }))
    expect(prepared.problems).toEqual([])
    expect(await adviceOn(prepared)).toEqual([
      {
        file: '/bundle/cordis.patch.yml',
        line: 9,
        row: 'careful',
        message: 'The row "careful": 5 among plain careful.',
      },
    ])
  })

  test('sees defaults, and a plugin that fails at it is said so', async () => {
    const rows =
      '- insert:\n    - { id: careful, name: careful }\n    - { id: broken, name: broken }\n'
    const prepared = await preflight(composed({ bundle: rows }), loaderOf({ careful, broken }))
    const texts = (await adviceOn(prepared)).map(({ message }) => message)
    expect(texts[0]).toBe('The row "careful": 7 among careful broken.')
    expect(texts[1]).toContain('The row "broken": its plugin cannot look')
  })
})
