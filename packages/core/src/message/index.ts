export * from './content.ts'
export * from './message.ts'
export * from './new-id.ts'
export * from './usage.ts'
