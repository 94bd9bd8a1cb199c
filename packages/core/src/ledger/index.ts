export * from './ledger.ts'
export { ledgerError } from './errors.ts'
export { default } from './plugin.ts'
