import { definePlugin, type Plugin } from '@cordage/core/kernel'
import { preStep } from '@cordage/core/loop'
import type { Message } from '@cordage/core/message'
import { requestContext, type Session } from '@cordage/core/session'
import { finalizeContent, spillKept } from '@cordage/core/tool'
import { z } from 'zod'
import { spillMessage, spillResult } from './keep.ts'
import { roomFor } from './preview.ts'
import { READ_SPILL, readTool } from './read-tool.ts'

const config = z.strictObject({
  // Three bytes for each character that a page of `read` may have: none is ever cut again.
  maxResultBytes: z
    .number()
    .int()
    .min(1024)
    .default(98_304)
    .describe('A larger result is kept in a blob, of which the model sees the ends.'),
  maxWindowShare: z
    .number()
    .min(0.01)
    .max(1)
    .default(0.25)
    .describe('The same for a result or a message of a person that fills more of the window.'),
  previewBytes: z
    .number()
    .int()
    .min(256)
    .default(16_384)
    .describe('Shown of what is kept: three quarters from its start, the rest from its end.'),
  pageBytes: z
    .number()
    .int()
    .min(256)
    .default(24_000)
    .describe('The most that one `read_spill` shows.'),
})

/** Characters for the first line of a page, so that it is not cut itself. */
const PAGE_MARGIN = 200

/** Keeps what is too large for a window, and gives the model a handle to read it by. */
const plugin: Plugin<z.output<typeof config>> = definePlugin({
  name: 'context-spill',
  inject: ['sessions', 'tools'],
  config,
  apply(ctx, { maxResultBytes, maxWindowShare, previewBytes, pageBytes }) {
    const tokensOf = (contextWindow = Infinity) => contextWindow * maxWindowShare
    const maxChars = ctx.tools.maxInlineChars
    const mostBytes = Math.min(pageBytes, maxChars - PAGE_MARGIN)
    ctx.sessions.events.register(ctx, spillKept)
    ctx.tools.register(
      ctx,
      readTool(ctx, (session) => roomFor(tokensOf(windowOf(session)), mostBytes)),
    )
    finalizeContent.use(ctx, async (ended, next) => {
      if (ended.call.name === READ_SPILL) return next()
      const maxTokens = tokensOf(windowOf(ended.session))
      const limits = { maxBytes: maxResultBytes, maxChars, maxTokens, previewBytes }
      return (await spillResult(ended, limits)) ?? next()
    })
    preStep.use(ctx, async (input, next) => {
      const maxTokens = tokensOf(input.model.info.contextWindow)
      const limits = { maxBytes: Infinity, maxChars: Infinity, maxTokens, previewBytes }
      const spill = (message: Message) => spillMessage(input.agent.session, message, limits)
      return next({ ...input, messages: await Promise.all(input.messages.map(spill)) })
    })
  },
})

/** Of the model that the last request went to, in tokens. */
function windowOf(session: Session | undefined): number | undefined {
  return session?.state(requestContext)?.contextWindow
}

export default plugin
