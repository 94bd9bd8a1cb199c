export * from './command.ts'
export { commandError } from './errors.ts'
export * from './frontend.ts'
export { default } from './plugin.ts'
