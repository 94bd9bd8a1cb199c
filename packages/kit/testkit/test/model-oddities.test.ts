import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Oddity, oddityGroups, resultOf, type WireApi } from '../src/index.ts'

const page = join(import.meta.dirname, '../../../../docs/reference/models.md')
const apis: readonly WireApi[] = ['openai-completions', 'openai-responses', 'anthropic-messages']

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function rowOf(oddity: Oddity): string {
  const results = apis.map((api) => {
    const result = oddity.reply(api) && resultOf(oddity, api)
    return result === undefined ? '' : `\`${result.replaceAll('|', '\\|')}\``
  })
  return line([oddity.name, ...results])
}

function tableOf(oddities: readonly Oddity[]): string {
  const head = line(['', 'Chat Completions', 'Responses', 'Messages'])
  return [head, line(['---', '---', '---', '---']), ...oddities.map(rowOf)].join('\n')
}

describe('reference/models.md', () => {
  it('lists every oddity of the contract with its result for each protocol, and no other', () => {
    const document = readFileSync(page, 'utf8')
    const [before, after] = ['<!-- oddities -->\n', '<!-- /oddities -->']
    const start = document.indexOf(before) + before.length
    const end = document.indexOf(after)
    const tables = oddityGroups.map(({ title, oddities }) => `### ${title}\n\n${tableOf(oddities)}`)
    const text = `\n${tables.join('\n\n')}\n\n`
    if (process.env['CORDAGE_MODELS_WRITE']) {
      writeFileSync(page, document.slice(0, start) + text + document.slice(end))
    } else {
      expect(document.slice(start, end)).toBe(text)
    }
  })

  it('names each oddity once', () => {
    for (const { oddities } of oddityGroups) {
      const names = oddities.map(({ name }) => name)
      expect(new Set(names).size).toBe(names.length)
    }
  })
})
