export * from './errors.ts'
export * from './file-system.ts'
export * from './processes.ts'
export * from './project.ts'
