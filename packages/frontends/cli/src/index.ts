export { boot, type BootOptions, type Harness } from './boot/boot.ts'
