import commands from '@cordage/core/command'
import credentials from '@cordage/core/credential'
import { openScope } from '@cordage/core/kernel'
import { textMessage, type Source } from '@cordage/core/message'
import prompt from '@cordage/core/prompt'
import { toolResult, userMessage, type NewFact } from '@cordage/core/session'
import { openToolBench, type ToolBench, type ToolBenchOptions } from '@cordage/testkit'
import index from '../../../stores/index/src/index.ts'
import memories from '../../../stores/memories/src/index.ts'
import plugin from '../src/index.ts'

export const rows = {
  'core-command': commands,
  'core-credential': credentials,
  'core-prompt': prompt,
  'store-index': index,
  'store-memories': memories,
  'context-recall': plugin,
}

export function openBench(options: Partial<ToolBenchOptions> = {}): Promise<ToolBench> {
  return openToolBench({ rows, ...options })
}

/** Answers every question, and keeps them. */
export function answer({ root }: ToolBench, outcome: 'allowed' | 'denied'): string[] {
  const asked: string[] = []
  root.approvals.answerer(root, async ({ reason }) => {
    asked.push(reason)
    return { outcome, by: 'person' }
  })
  return asked
}

export function typed(text: string, source: Source = { kind: 'user' }): NewFact {
  return userMessage({ message: textMessage('m', 'user', text, source) })
}

export function gave(text: string, { name = 'bash', isError = false } = {}): NewFact {
  const part = { type: 'tool-result', callId: 'c', name, isError } as const
  return toolResult({
    turn: 1,
    step: 1,
    callId: 'c',
    name,
    messageId: 'r',
    part: { ...part, content: [{ type: 'text', text }] },
  })
}

/** What a person who gives a command is told. */
export async function command({ root, session }: ToolBench, text: string): Promise<string> {
  const scope = openScope(root, 'person')
  const agent = { id: session.id, session, scope } as never
  const result = await root.commands.run(text, agent, new AbortController().signal)
  await scope.close()
  return result?.text ?? ''
}
