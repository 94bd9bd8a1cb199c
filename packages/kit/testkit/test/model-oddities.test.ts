import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type Oddity,
  oddityGroups,
  refusals,
  resultOf,
  statuses,
  type WireApi,
} from '../src/index.ts'

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

const sections: Readonly<Record<string, string>> = {
  oddities: oddityGroups
    .map(({ title, oddities }) => `### ${title}\n\n${tableOf(oddities)}`)
    .join('\n\n'),
  statuses: [
    line(['Status', 'Code', 'Tried again']),
    line(['---', '---', '---']),
    ...statuses.map(({ status, code, retried }) => {
      return line([String(status), `\`${code}\``, retried ? 'yes' : 'no'])
    }),
  ].join('\n'),
  refusals: [
    line(['Status', 'What the body says', 'Code']),
    line(['---', '---', '---']),
    ...refusals.map(({ status, says, code }) => line([String(status), says, `\`${code}\``])),
  ].join('\n'),
}

describe('reference/models.md', () => {
  it.each(Object.entries(sections))('has the %s of the contract and no others', (name, rows) => {
    const document = readFileSync(page, 'utf8')
    const [before, after] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`]
    const start = document.indexOf(before) + before.length
    const end = document.indexOf(after)
    const text = `\n${rows}\n\n`
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
