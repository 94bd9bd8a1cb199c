export * from './tool.ts'
export * from './tools.ts'
