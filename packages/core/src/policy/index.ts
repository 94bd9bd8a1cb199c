export * from './effect.ts'
export * from './policy.ts'
