import { defineConfig } from 'vitest/config'

const fast = { isolate: false, testTimeout: 20_000, hookTimeout: 20_000 }
const whole = { testTimeout: 120_000, hookTimeout: 120_000 }

export default defineConfig({
  test: {
    projects: [
      { test: { ...fast, name: 'unit', include: ['packages/**/test/**/*.test.ts'] } },
      { test: { ...fast, name: 'tidy', include: ['test/tidy.test.ts'] } },
      { test: { ...whole, name: 'compose', include: ['test/compose/**/*.test.ts'] } },
      { test: { ...whole, name: 'e2e', include: ['test/{e2e,replay,escape}/**/*.test.ts'] } },
    ],
  },
})
