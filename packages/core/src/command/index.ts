export * from './frontend.ts'
