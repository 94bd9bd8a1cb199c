import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { assert, integer, nat, property, readConfigureGlobal, sample } from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import { propertySeed } from '../fixture/property-seed.ts'
import { exhaustive, runs } from './fixture/cases.ts'

const repository = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(repository, path), 'utf8')

const codeOf = (path: string) => read(path).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

describe('properties', () => {
  it('are tried 200 times in the quick check and 2,000 times by the whole suite', () => {
    expect(inject('propertyRuns')).toBe(runs)
    expect(readConfigureGlobal()?.numRuns).toBe(runs)
    expect(runs).toBeGreaterThanOrEqual(200)
    expect(exhaustive).toBe(runs >= 2_000)
    expect(read('scripts/test.mjs')).toContain("process.env.CORDAGE_PROPERTY_RUNS = '2000'")
    expect(read('scripts/check.mjs')).not.toContain('CORDAGE_PROPERTY_RUNS')
    expect(read('vitest.config.ts')).toContain("process.env['CORDAGE_PROPERTY_RUNS'] ?? 200")
  })

  it('are nowhere tried less often', () => {
    const tests = globSync('{packages,test}/**/*.test.ts', {
      cwd: repository,
      exclude: ['**/node_modules'],
    })
    expect(tests.length).toBeGreaterThan(100)
    expect(tests.filter((path) => /numRuns\s*:/.test(read(path)))).toEqual([])
    // The projects of these, and no others, take the number of runs.
    const counted = /^packages\/|^test\/simulation\//
    const tried = tests.filter((path) => read(path).includes("from 'fast-check'"))
    expect(tried.filter((path) => !counted.test(path))).toEqual([])
    const config = read('vitest.config.ts')
    for (const name of ['unit', 'simulation', 'slow']) {
      expect(config).toMatch(
        new RegExp(`\\.\\.\\.properties,\\s+(\\.\\.\\.whole,\\s+)?name: '${name}'`),
      )
    }
  })

  it('name the seed with which they failed, which is the one of the whole run', () => {
    const fails = () => assert(property(nat(), (number) => number > 10))
    expect(fails).toThrow(new RegExp(`seed: ${inject('propertySeed')}\\b`))
    expect(read('vitest.config.ts')).toContain('propertySeed(process.env)')
  })

  it('draw the same inputs in CI each time, others whenever a person runs them', () => {
    const drawn = (seed: number) => sample(integer(), { seed })
    const inCi = propertySeed({ CI: 'true' })
    expect(drawn(propertySeed({ CI: 'true' }))).toEqual(drawn(inCi))
    expect(propertySeed({ CI: 'true', CORDAGE_PROPERTY_SEED: '7' })).toBe(7)
    expect(propertySeed({ CORDAGE_PROPERTY_SEED: '7' })).toBe(7)
    expect(() => propertySeed({ CORDAGE_PROPERTY_SEED: 'seven' })).toThrow('is "seven". Set it to')
    const byPeople = Array.from({ length: 8 }, () => propertySeed({}))
    expect(new Set(byPeople).size).toBeGreaterThan(1)
    expect(drawn(byPeople[0] ?? 0)).not.toEqual(drawn(inCi))
  })
})

describe('the product', () => {
  /** What a module may not know of: that it is being tested. */
  const hooks = /\b(VITEST|NODE_ENV|failpoints?|simulat\w*|underTest|forTests?)\b/i

  it('has no hook for tests: disk and clock are given to it', () => {
    const sources = globSync('packages/{core,stores,policies,models,tools}/**/src/**/*.ts', {
      cwd: repository,
      exclude: ['**/node_modules'],
    })
    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter((path) => hooks.test(codeOf(path)))).toEqual([])
  })

  it('reaches the disk of a log through its Io alone, and time through its Clock', () => {
    const store = globSync('packages/stores/jsonl/src/*.ts', { cwd: repository })
    // The lock is of the kernel, and the catalog, which is no truth, is of its own thread.
    const system = /^(node-io|lease|catalog(-\w+)?)\.ts$/
    const plain = store.filter((path) => !system.test(path.slice(path.lastIndexOf('/') + 1)))
    expect(plain.length).toBeGreaterThan(20)
    const timers = /\bset(Timeout|Interval|Immediate)\(|'node:timers/
    const disk = /^import (?!type)[^']*'(node:fs|node:fs\/promises|better-sqlite3)'/m
    expect(plain.filter((path) => disk.test(read(path)))).toEqual([])
    const kept = globSync('packages/core/src/{store,session}/*.ts', { cwd: repository })
    expect([...plain, ...kept].filter((path) => timers.test(read(path)))).toEqual([
      'packages/core/src/store/clock.ts',
    ])
  })
})
