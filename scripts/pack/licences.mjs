import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, root } from './packages.mjs'

/** The notices that the licences of bundled libraries ask for; throws when one has none. */
export function noticesOf(libraries) {
  const texts = new Map()
  for (const folder of libraries) {
    const manifest = readJson(join(folder, 'package.json'))
    const title = `${manifest.name} ${manifest.version} (${manifest.license})`
    const text = shippedText(folder) ?? standardText(manifest)
    if (text === undefined) throw new Error(`${title} comes without the text of its licence`)
    texts.set(title, text)
  }
  const parts = [...texts].map(([title, text]) => `${title}\n\n${text.trim()}\n`)
  return parts.join(`\n${'-'.repeat(80)}\n\n`)
}

function shippedText(folder) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name))
  const texts = files.map((name) => readFileSync(join(folder, name), 'utf8'))
  return texts.length > 0 ? texts.join('\n') : undefined
}

/** Some authors only name the licence: ours has the same words under their name. */
function standardText({ name, license, author }) {
  if (license !== 'MIT') return undefined
  const holder = (typeof author === 'object' ? author.name : author) ?? `the authors of ${name}`
  const own = readFileSync(join(root, 'LICENSE'), 'utf8')
  return own.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`)
}
