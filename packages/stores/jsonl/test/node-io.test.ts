import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nodeIo } from '../src/node-io.ts'

it('makes a folder with those above it, for its owner only, twice too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cordage-io-'))
  try {
    const path = join(folder, 'a/b')
    await Promise.all([nodeIo.makeDirectory(path), nodeIo.makeDirectory(path)])
    for (const at of [join(folder, 'a'), path]) expect((await stat(at)).mode & 0o777).toBe(0o700)
  } finally {
    await rm(folder, { recursive: true })
  }
})

it.runIf(process.platform === 'linux')('fails at once where no folder can be made', async () => {
  await expect(nodeIo.makeDirectory('/proc/cordage/sessions')).rejects.toThrow(/ENOENT/)
})
