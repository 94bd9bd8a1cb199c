import { compose } from '@cordage/core/compose'
import { describe, expect, it } from 'vitest'
import { isKind, isPackageName, kinds, scaffold } from '../src/index.ts'

const wish = { name: '@acme/rain-or-shine', version: '1.2.3', year: 2026 } as const

describe('a scaffold', () => {
  it.each(kinds)('of kind %s has no hole left and only files that are known', (kind) => {
    const files = scaffold({ ...wish, kind })
    expect([...files].filter(([, text]) => text.includes('{{'))).toEqual([])
    expect([...files.keys()].sort()).toEqual([
      '.gitignore',
      'LICENSE',
      'README.md',
      'cordis.patch.yml',
      'dev.patch.yml',
      'package.json',
      'src/index.ts',
      'test/index.test.ts',
      'tsconfig.build.json',
      'tsconfig.json',
    ])
  })

  it.each(kinds)('of kind %s adds one row of its own package', (kind) => {
    const text = scaffold({ ...wish, kind }).get('cordis.patch.yml') ?? ''
    const layer = { kind: 'plugin', name: wish.name, file: '/x/cordis.patch.yml', text } as const
    const { rows, presets, problems } = compose([layer], { profile: 'headless', env: {} })
    const all = [...rows, ...[...presets.values()].flatMap((preset) => preset.rows)]
    expect(problems).toEqual([])
    expect(all).toMatchObject([{ id: 'acme-rain-or-shine', name: wish.name, optional: true }])
  })

  it('is made for the version that made it', () => {
    const manifest = scaffold({ ...wish, kind: 'tool' }).get('package.json') ?? ''
    expect(JSON.parse(manifest)).toMatchObject({
      name: wish.name,
      peerDependencies: { '@cordage/core': '>=1.2.3' },
      devDependencies: { '@cordage/testkit': '^1.2.3' },
      cordage: { bundle: './cordis.patch.yml' },
    })
  })

  it('is named as npm and models take it', () => {
    expect(scaffold({ ...wish, kind: 'tool' }).get('src/index.ts')).toContain("'rain_or_shine'")
    const names = ['weather', '@acme/weather', 'a.b_c-d']
    expect(names.filter(isPackageName)).toEqual(names)
    const bad = ['', 'Weather', '@acme', '../x', 'a b', '-x', '1st', 'x'.repeat(215), '@/x']
    expect(bad.filter(isPackageName)).toEqual([])
    expect(['tool', 'toString', 'base'].filter(isKind)).toEqual(['tool'])
  })
})
