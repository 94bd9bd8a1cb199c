export { boot, type BootOptions, type Harness } from './boot/boot.ts'
export type { Rejection } from './boot/follow.ts'
