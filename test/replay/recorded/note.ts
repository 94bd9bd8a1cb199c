import '@cordage/core/tool'
import { definePlugin } from '@cordage/core/kernel'
import { z } from 'zod'

/** A tool of the proof's own, so that its log changes with core and adapters only. */
export default definePlugin({
  name: 'proof-note',
  inject: ['tools'],
  apply(ctx) {
    ctx.tools.register(ctx, {
      name: 'note',
      description: 'Shows a note.',
      parameters: z.strictObject({ file: z.string() }),
      effects: ({ file }, { cwd }) => [{ kind: 'fs:read', path: `${cwd}/${file}` }],
      async execute({ file }, run) {
        await using target = await run.fs.forRead(file)
        const { bytes } = await target.read()
        return { text: new TextDecoder().decode(bytes) }
      },
      render: ({ text }) => text,
    })
  },
})
