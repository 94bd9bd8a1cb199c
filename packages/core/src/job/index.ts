export * from './exit-text.ts'
export * from './job.ts'
export { jobError } from './errors.ts'
export { default } from './plugin.ts'
