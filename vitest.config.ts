import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/fixture/longest-first.ts'
import { propertySeed } from './test/fixture/property-seed.ts'

const packageTests = 'packages/**/test/**/*.test.ts'
const slowTests = 'packages/**/test/**/*.slow.test.ts'
const simulationTests = 'test/simulation/*.test.ts'
// A module is loaded once for all tests that a worker runs: they leave nothing behind in it.
const fast = { isolate: false, testTimeout: 20_000, hookTimeout: 20_000 }
const whole = { isolate: false, testTimeout: 120_000, hookTimeout: 120_000 }

/** How many inputs each property is tried with: few in the quick check, many in `npm test`. */
const propertyRuns = Number(process.env['CORDAGE_PROPERTY_RUNS'] ?? 200)
const seed = propertySeed(process.env)
console.error(`properties draw their inputs by seed ${seed} (CORDAGE_PROPERTY_SEED)`)
/** A heap that begins small is marked again and again: an eighth of the time of a worker. */
const roomy = { execArgv: ['--initial-heap-size=256'] }
/** Threads and processes of tests find sources without types and compiled: half of what they do. */
const compiled = {
  NODE_COMPILE_CACHE: resolve(import.meta.dirname, 'node_modules/.cache/compiled'),
}
const properties = {
  ...fast,
  ...(propertyRuns > 200 ? whole : {}),
  setupFiles: ['test/fixture/property-runs.ts'],
  provide: { propertyRuns, propertySeed: seed },
}

/** Only with an installation of it: scripts/test-packed.mjs makes one. */
const packed = process.env['CORDAGE_PACKED'] ? [packedProject()] : []

export default defineConfig({
  test: {
    // One more than there are cores: most tests wait for files and processes part of their time.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    env: compiled,
    projects: [
      {
        test: {
          ...roomy,
          ...properties,
          name: 'unit',
          include: [packageTests],
          exclude: ['**/node_modules/**', slowTests],
        },
      },
      {
        test: {
          ...fast,
          name: 'tidy',
          include: ['test/{tidy,docs,proofs,report}.test.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          ...whole,
          name: 'compose',
          maxConcurrency: 2,
          include: ['test/compose/**/*.test.ts'],
        },
      },
      {
        test: {
          ...roomy,
          ...properties,
          name: 'simulation',
          include: [simulationTests],
        },
      },
      {
        test: {
          ...roomy,
          ...properties,
          ...whole,
          name: 'slow',
          include: [slowTests, 'test/scripts.test.ts'],
        },
      },
      {
        test: {
          ...whole,
          name: 'e2e',
          include: ['test/{e2e,replay,escape}/**/*.test.ts'],
        },
      },
      ...packed,
    ],
  },
})

function packedProject() {
  const include = ['test/{packed,compose,e2e,replay,escape}/**/*.test.ts']
  return { test: { ...whole, name: 'packed', include } }
}
