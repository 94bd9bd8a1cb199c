import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const packageTests = 'packages/**/test/**/*.test.ts'
const slowTests = 'packages/**/test/**/*.slow.test.ts'
const simulationTests = 'test/simulation/*.test.ts'
const setupFiles = ['test/fixture/property-runs.ts']
const fast = { isolate: false, testTimeout: 20_000, hookTimeout: 20_000 }
const whole = { testTimeout: 120_000, hookTimeout: 120_000 }

/** Tests of properties are quick with few inputs; the slow project gives the same ones many. */
const propertyTests = globSync(packageTests, { cwd: import.meta.dirname }).filter(
  (file) => !file.includes('node_modules') && /from 'fast-check'/.test(readFileSync(file, 'utf8')),
)

/** Only with an installation of it: scripts/test-packed.mjs makes one. */
const packed = process.env['CORDAGE_PACKED'] ? [packedProject()] : []

export default defineConfig({
  test: {
    // Two workers on two cores: most tests wait for files and processes part of their time.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          ...fast,
          name: 'unit',
          include: [packageTests],
          exclude: ['**/node_modules/**', slowTests],
          setupFiles,
          provide: { propertyRuns: 200 },
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...fast,
          name: 'tidy',
          include: ['test/{tidy,docs,proofs,report,scripts}.test.ts'],
          testTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...whole,
          name: 'compose',
          maxConcurrency: 2,
          include: ['test/compose/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...fast,
          name: 'simulation',
          include: [simulationTests],
          setupFiles,
          provide: { propertyRuns: 200 },
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...whole,
          name: 'slow',
          isolate: false,
          include: [slowTests, simulationTests, ...propertyTests],
          setupFiles,
          provide: { propertyRuns: 2000 },
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...whole,
          name: 'e2e',
          include: ['test/{e2e,replay,escape}/**/*.test.ts'],
          sequence: { groupOrder: 3 },
        },
      },
      ...packed,
    ],
  },
})

function packedProject() {
  const include = ['test/{packed,compose,e2e,replay,escape}/**/*.test.ts']
  return { test: { ...whole, name: 'packed', include, sequence: { groupOrder: 0 } } }
}
