export * from './terms.ts'
export * from './words.ts'
