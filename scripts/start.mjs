// The sample job: an agent repairs docs/examples/fix-a-bug in a fresh copy, with a recorded model.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const copy = join(mkdtempSync(join(tmpdir(), 'cordage-fix-a-bug-')), 'project')
cpSync('docs/examples/fix-a-bug', copy, { recursive: true })
console.log(`A fresh copy of the sample project: ${copy}\n`)

const task = 'A test of this project fails. Find the bug, fix it, and run the tests.'
const args = ['run', '--cwd', copy, '--model', 'scripted/fix-a-bug', task]
const cordage = 'packages/frontends/cli/bin/cordage.js'
const { status } = spawnSync(process.execPath, [cordage, ...args], { stdio: 'inherit' })

console.log(`
That was the scripted model: its words were recorded, everything else (files, processes, policy,
the session log) was real. With a real one, in any project:

  DEEPSEEK_API_KEY=... cordage "fix the failing test"

OPENAI_API_KEY and ANTHROPIC_API_KEY do as well; DEEPSEEK_BASE_URL, OPENAI_BASE_URL or
ANTHROPIC_BASE_URL point at any compatible server. From this checkout the command is
node_modules/.bin/cordage; \`cordage sessions list\` shows what was done here.`)
process.exit(status ?? 1)
