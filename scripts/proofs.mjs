// Checks docs/reference/proofs.md: what it names exists, and with --run that those tests pass.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { provideForTests } from './pack/install.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const page = join(root, 'docs/reference/proofs.md')

/** Claims with their proofs: `{ claim, line, proofs: [{ line, kind, file?, title?, reason? }] }`. */
export function readClaims() {
  const claims = []
  for (const [at, text] of readFileSync(page, 'utf8').split('\n').entries()) {
    const line = at + 1
    if (text.startsWith('- ')) claims.push({ claim: text.slice(2), line, proofs: [] })
    if (text.startsWith('  - ')) claims.at(-1)?.proofs.push({ line, ...readProof(text.slice(4)) })
  }
  return claims
}

function readProof(text) {
  const test = /^`([^`]+)` "(.+)"$/.exec(text)
  if (test) return { kind: 'test', file: test[1], title: test[2].replaceAll('\\"', '"') }
  const bench = /^bench "(.+)"$/.exec(text)
  if (bench) return { kind: 'bench', file: 'test/bench/run.ts', title: bench[1] }
  const link = /^page \[[^\]]+\]\(([^)]+)\)$/.exec(text)
  if (link) return { kind: 'page', file: relative(root, resolve(dirname(page), link[1])) }
  const none = /^none: (.+)$/.exec(text)
  return none ? { kind: 'none', reason: none[1] } : { kind: 'unreadable', reason: text }
}

/** What is wrong with the page, a line each. */
export function findProblems(claims = readClaims()) {
  const problems = claims
    .filter(({ proofs }) => proofs.length === 0)
    .map(({ line, claim }) => `line ${line}: nothing is named for "${claim}"`)
  for (const proof of claims.flatMap(({ proofs }) => proofs)) {
    const problem = problemOf(proof)
    if (problem) problems.push(`line ${proof.line}: ${problem}`)
  }
  return problems
}

function problemOf({ kind, file, title, reason }) {
  if (kind === 'none') return undefined
  if (kind === 'unreadable') return `this is no proof: ${reason}`
  if (!existsSync(join(root, file))) return `there is no ${file}`
  if (kind === 'page') return undefined
  const source = readFileSync(join(root, file), 'utf8')
  const at = ["'", '`', '"'].map((quote) => source.indexOf(quote + title + quote))
  const found = at.find((index) => index >= 0)
  if (found === undefined) return `${file} has no "${title}"`
  if (kind === 'bench') return undefined
  // The nearest call in front of the title says whether it runs.
  const call = [...source.slice(0, found).matchAll(/\b(?:it|test)((?:\.\w+)*)\(/g)].at(-1)
  if (!call) return `"${title}" in ${file} is the title of no test`
  const idle = /\.(?:skip|todo|fails)\b/.exec(call[1])
  return idle ? `"${title}" in ${file} is marked ${idle[0]}` : undefined
}

/** Runs what the page names; gives the titles of which no test passed. */
async function findFailures(claims) {
  const tests = claims.flatMap(({ proofs }) => proofs).filter(({ kind }) => kind === 'test')
  const files = [
    ...new Set(tests.map(({ file }) => file).filter((file) => file.endsWith('.test.ts'))),
  ]
  const contracts = ['packages/stores', 'packages/models', 'test/compose/contracts.test.ts']
  // Whole programs are tested as people get them.
  await provideForTests()
  const output = join(root, '.cache/proofs.json')
  const bin = join(root, 'node_modules/vitest/vitest.mjs')
  const once = ['--project', '!compose', '--project', '!e2e']
  const reporter = ['--reporter=json', `--outputFile=${output}`]
  const args = [bin, 'run', ...once, ...files, ...contracts, ...reporter]
  spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  const report = JSON.parse(readFileSync(output, 'utf8'))
  const ran = report.testResults.flatMap(({ name, assertionResults }) => {
    return assertionResults.map(({ title, status }) => ({
      file: relative(root, name),
      title,
      status,
    }))
  })
  return tests.flatMap(({ line, file, title }) => {
    const pattern = patternOf(title)
    const own = ran.filter((test) => {
      return pattern.test(test.title) && (test.file === file || !file.endsWith('.test.ts'))
    })
    const passed = own.length > 0 && own.every(({ status }) => status === 'passed')
    return passed
      ? []
      : [`line ${line}: "${title}" of ${file} ${own.length > 0 ? 'failed' : 'did not run'}`]
  })
}

/** `%s`, `$title`, `${title}` and the like stand for whatever a table fills in. */
function patternOf(title) {
  const literals = title.split(/%[a-z]|\$\{.+?\}|\$\w+/)
  const escaped = literals.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${escaped.join('.*')}$`, 's')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const claims = readClaims()
  const problems = findProblems(claims)
  if (problems.length === 0 && process.argv.includes('--run'))
    problems.push(...(await findFailures(claims)))
  for (const problem of problems) console.error(`docs/reference/proofs.md, ${problem}`)
  const proofs = claims.flatMap((claim) => claim.proofs)
  const none = proofs.filter(({ kind }) => kind === 'none').length
  console.log(`${claims.length} claims, ${proofs.length - none} proofs, ${none} claims without one`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
