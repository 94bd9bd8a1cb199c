import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { canHoldDirectories } from '../src/directory.ts'
import { createFileSystem } from '../src/file-system.ts'
import { codeOf, makeDirectory, never } from './fixture.ts'

// Another process swaps a directory of the path for a link to outside as fast as it can, as a
// command that the model started could.
const SWAP = `
  const fs = require('node:fs')
  const [dir, outside] = process.argv.slice(1)
  process.stdout.write('ready')
  for (;;) {
    fs.renameSync(dir, dir + '.kept')
    fs.symlinkSync(outside, dir)
    fs.unlinkSync(dir)
    fs.renameSync(dir + '.kept', dir)
  }`

it.runIf(canHoldDirectories())(
  'never reads or writes outside while a parent is swapped',
  async () => {
    const base = await makeDirectory()
    const [inside, outside] = [join(base, 'project', 'dir'), join(base, 'outside')]
    await mkdir(join(inside, 'sub'), { recursive: true })
    await mkdir(join(outside, 'sub'), { recursive: true })
    for (const sub of ['', 'sub/']) {
      await writeFile(join(inside, `${sub}file`), 'inside')
      await writeFile(join(outside, `${sub}file`), 'outside')
    }
    const fs = createFileSystem(never)
    const attacker = spawn(process.execPath, ['-e', SWAP, inside, outside], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(attacker.stdout, 'data')
    const outcomes: Record<string, number> = {}
    const leaks: string[] = []

    const attempt = async (n: number) => {
      const path = join(inside, n % 2 ? 'file' : 'sub/file')
      await using target = await fs.target(path)
      // This is where the policy decides: it would refuse what resolves to outside.
      if (!target.path.startsWith(join(base, 'project')))
        throw Object.assign(new Error(), { code: 'REFUSED' })
      if (n % 4 < 2) {
        const { bytes } = await target.read()
        if (Buffer.from(bytes).toString() !== 'inside') leaks.push(Buffer.from(bytes).toString())
      } else await target.write(Buffer.from('inside'), {})
    }
    try {
      // On until both sides of the race were met: otherwise nothing was tried here.
      const metBoth = () => Object.keys(outcomes).length > 1 && 'no error' in outcomes
      for (let n = 0; n < 500 || !metBoth(); n++) {
        const code = await codeOf(attempt(n))
        outcomes[code] = (outcomes[code] ?? 0) + 1
      }
    } finally {
      attacker.kill('SIGKILL')
      await once(attacker, 'exit')
    }

    expect(leaks).toEqual([])
    expect(await readdir(outside)).toEqual(['file', 'sub'])
    expect(await readdir(join(outside, 'sub'))).toEqual(['file'])
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('outside')
    expect(await readFile(join(outside, 'sub/file'), 'utf8')).toBe('outside')
    const expected = ['no error', 'REFUSED', 'TARGET_MOVED', 'FILE_NOT_FOUND']
    expect(Object.keys(outcomes).filter((code) => !expected.includes(code))).toEqual([])
  },
)
