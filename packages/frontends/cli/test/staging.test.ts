import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changePlugins, recoverPlugins } from '../src/plugin/staging.ts'

const MANIFEST = JSON.stringify({ cordage: { plugins: ['acme-hello'] } })

let base: string
let folder: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordage-staging-'))
  folder = join(base, 'profiles/headless')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), MANIFEST)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const manifest = () => readFileSync(join(folder, 'package.json'), 'utf8')
const beside = () => readdirSync(dirname(folder))
const keep = async () => ({ keep: true, value: undefined })

/** What a process leaves that is killed between the two renames of a swap. */
function killInSwap(): void {
  const work = join(`${folder}.changing`, 'of-the-dead')
  mkdirSync(join(work, 'copy'), { recursive: true })
  renameSync(folder, join(work, 'old'))
  writeFileSync(`${folder}.lock`, '999999999 dead')
}

describe('a change of plugins that was killed in the middle', () => {
  it('is taken back by whoever reads them next', () => {
    killInSwap()
    recoverPlugins(folder)
    expect(manifest()).toBe(MANIFEST)
    expect(beside()).toEqual(['headless'])
  })

  it('is taken back by the next change, which starts from what was there', async () => {
    killInSwap()
    await changePlugins(folder, async (copy) => {
      expect(readFileSync(join(copy, 'package.json'), 'utf8')).toBe(MANIFEST)
      return { keep: false, value: undefined }
    })
    expect(manifest()).toBe(MANIFEST)
    expect(beside()).toEqual(['headless'])
  })

  it('is not taken back any more once the new ones are there', () => {
    const done = join(`${folder}.changing`, 'of-the-dead/done')
    mkdirSync(done, { recursive: true })
    rmSync(folder, { recursive: true })
    recoverPlugins(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it('does no harm when its npm goes on writing', async () => {
    const other = join(`${folder}.changing`, 'of-the-dead/copy/node_modules/x')
    await changePlugins(folder, async () => {
      mkdirSync(other, { recursive: true })
      return { keep: true, value: undefined }
    })
    expect(manifest()).toBe(MANIFEST)
    expect(beside()).toEqual(['headless'])
  })
})

describe('two changes of plugins at once', () => {
  it('are one, and a refusal that names the other', async () => {
    const again = () => changePlugins(folder, keep)
    const outer = changePlugins(folder, async () => {
      await expect(again()).rejects.toMatchObject({ code: 'PLUGIN_BUSY' })
      return { keep: true, value: 'done' }
    })
    expect(await outer).toBe('done')
    expect(manifest()).toBe(MANIFEST)
  })

  it('end without a swap for the one that lost its turn while it slept', async () => {
    const slept = changePlugins(folder, async (copy) => {
      writeFileSync(join(copy, 'package.json'), '{ "cordage": { "plugins": ["other"] } }')
      writeFileSync(`${folder}.lock`, `${process.ppid} another`)
      return { keep: true, value: undefined }
    })
    await expect(slept).rejects.toMatchObject({ code: 'PLUGIN_BUSY' })
    expect(manifest()).toBe(MANIFEST)
  })
})
