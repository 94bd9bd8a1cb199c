import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import '@cordage/core/agent'
import { textOf } from '@cordage/core/message'
import { estimateTokens } from '@cordage/core/model'
import { contextMessage, requestHeader } from '@cordage/core/session'
import { boot } from 'cordage'
import { cleanEnv } from '../e2e/fixture/cli.ts'
import { makePlace, repository } from '../e2e/fixture/place.ts'
import type { Row } from './row.ts'

/** How large the core is, and what each row of the default profile costs in every request. */
export async function measureSizes(): Promise<Row[]> {
  const files = globSync('packages/core/src/**/*.ts', { cwd: repository })
  const lines = files.flatMap((file) => readFileSync(join(repository, file), 'utf8').split('\n'))
  const filled = lines.filter((line) => line.trim() !== '').length
  const tokens = await promptTokens()
  const sum = [...tokens.values()].reduce((all, one) => all + one, 0)
  return [
    { name: 'core: lines that are not blank', unit: 'lines', samples: [filled] },
    { name: 'prompt: all rows', unit: 'tokens', samples: [sum] },
    ...[...tokens].map(([row, count]): Row => {
      return { name: `prompt: ${row}`, unit: 'tokens', samples: [count] }
    }),
  ]
}

/** Estimated tokens by row, before the user's first word. */
async function promptTokens(): Promise<Map<string, number>> {
  await using place = await makePlace()
  const { home, project } = place
  const env = cleanEnv(place)
  const harness = await boot({ profile: 'headless', home, env, cwd: project })
  try {
    const session = await harness.ctx.sessions.create({ project, depth: 0 })
    const agent = await harness.ctx.agents.spawn({
      session,
      choice: { model: 'scripted/fix-a-bug', params: {} },
      authority: { mode: 'read-only', writableRoots: [] },
      limits: { maxSteps: 1 },
    })
    await agent.send('Hello', { wake: false })
    await agent.wake()
    const tokens = new Map<string, number>()
    const add = (row: string, count: number) => tokens.set(row, (tokens.get(row) ?? 0) + count)
    for await (const fact of session.read(0)) {
      if (requestHeader.is(fact)) fact.data.origin.forEach((part) => add(part.row, part.tokens))
      if (contextMessage.is(fact)) add(fact.data.row, estimateTokens(textOf(fact.data.message)))
    }
    await agent.close()
    return tokens
  } finally {
    await harness.close()
  }
}
