export * from './prompt.ts'
export { promptError } from './errors.ts'
export { default } from './plugin.ts'
