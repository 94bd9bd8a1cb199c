import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePlace, repository, type Place } from '../e2e/fixture/place.ts'

const manifests = globSync(['package.json', '{packages,bundles,profiles}/**/package.json'], {
  cwd: repository,
  exclude: ['**/node_modules'],
}).filter((file) => !/templates|dist/.test(file))

/** A checkout with the scripts and the manifests, and a changelog. */
async function makeCheckout({ base }: Place, changelog: string): Promise<string> {
  const folder = join(base, 'checkout')
  await cp(join(repository, 'scripts'), join(folder, 'scripts'), { recursive: true })
  for (const file of manifests) {
    await mkdir(join(folder, dirname(file)), { recursive: true })
    await cp(join(repository, file), join(folder, file))
  }
  await writeFile(join(folder, 'CHANGELOG.md'), changelog)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '--quiet')
  git('add', '.')
  const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
  git(...author, 'commit', '--quiet', '--message', 'start')
  return folder
}

function release(folder: string, ...args: string[]) {
  const script = join(folder, 'scripts/release.mjs')
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
}

describe('preparing a release', () => {
  it('gives every package the version and the changelog its date', async () => {
    await using place = await makePlace('empty')
    const notes = '# Changelog\n\n## 9.8.7 (unreleased)\n\n- Something.\n\n## 0.0.1 (2020-01-01)\n'
    const folder = await makeCheckout(place, notes)
    const { status, stderr } = release(folder, 'prepare', '9.8.7')
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const versions = manifests.map((file) => {
      return (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { version: string }).version
    })
    expect(new Set(versions)).toEqual(new Set(['9.8.7']))
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toMatch(/^## 9\.8\.7 \(\d{4}-/m)
  })

  it.each([
    ['a version that is none', 'two', '## two (unreleased)\n\n- A.\n', '"two" is no version'],
    ['no notes', '9.8.7', '## 9.8.7 (unreleased)\n\n## 1.0.0\n\n- Old.\n', 'has nothing under'],
    ['notes of another version', '9.8.7', '## 9.9.9 (unreleased)\n\n- A.\n', 'has nothing under'],
  ])('refuses %s and changes nothing', async (_, version, changelog, reason) => {
    await using place = await makePlace('empty')
    const folder = await makeCheckout(place, changelog)
    const { status, stderr } = release(folder, 'prepare', version)
    expect(stderr).toContain(reason)
    expect(status).toBe(1)
    const changed = execFileSync('git', ['status', '--porcelain'], { cwd: folder })
    expect(String(changed)).toBe('')
  })

  it('refuses changes that are not committed, and a version that is tagged', async () => {
    await using place = await makePlace('empty')
    const folder = await makeCheckout(place, '## 9.8.7 (unreleased)\n\n- A.\n')
    execFileSync('git', ['tag', 'v9.8.7'], { cwd: folder })
    expect(release(folder, 'prepare', '9.8.7').stderr).toContain('a tag v9.8.7 already')
    await writeFile(join(folder, 'new'), '')
    expect(release(folder, 'prepare', '9.8.8').stderr).toContain('not committed')
    expect(release(folder, 'publish').stderr).toContain('not committed')
  })
})
