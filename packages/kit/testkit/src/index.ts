export * from './store-contract.ts'
export * from './tool-run.ts'
