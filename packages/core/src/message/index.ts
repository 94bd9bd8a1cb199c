export * from './content.ts'
export * from './message.ts'
export * from './usage.ts'
