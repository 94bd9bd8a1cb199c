export * from './credentials.ts'
export { credentialError } from './errors.ts'
export { default } from './plugin.ts'
