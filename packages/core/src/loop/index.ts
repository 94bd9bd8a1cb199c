export { classify, type Answer, type AnswerKind } from './answer.ts'
export { loopError } from './errors.ts'
export * from './hooks.ts'
export { default } from './plugin.ts'
