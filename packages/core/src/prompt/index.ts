export * from './prompt.ts'
