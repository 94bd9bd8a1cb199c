export * from './credentials.ts'
