export * from './event.ts'
export * from './provider.ts'
export * from './request.ts'
