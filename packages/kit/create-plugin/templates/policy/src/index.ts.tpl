import { basename } from 'node:path'
import { definePlugin } from '@cordage/core/kernel'
import type { Rule } from '@cordage/core/policy'
import { z } from 'zod'

const config = z.strictObject({
  /** Programs that nobody may start. */
  programs: z.array(z.string()).default(['rm']),
})

export default definePlugin({
  name: '{{name}}',
  inject: ['policy'],
  config,
  apply: (ctx, { programs }) => ctx.policy.rule(ctx, forbid(programs)),
})

/** The strictest answer of all rules counts; undefined leaves an effect to the others. */
function forbid(programs: readonly string[]): Rule {
  return {
    id: '{{row}}',
    decide: (effect) => {
      if (effect.kind !== 'process') return undefined
      const program = basename(effect.argv[0] ?? '')
      if (!programs.includes(program)) return undefined
      return { answer: 'deny', rule: '{{row}}', reason: `${program} is not to be used here` }
    },
  }
}
