import type { Context as Container } from 'cordis'
import type { Context } from './context.ts'

/** Cordis' fiber states; its own `const enum` cannot be imported by isolated modules. */
export const FiberState = {
  PENDING: 0,
  LOADING: 1,
  ACTIVE: 2,
  FAILED: 3,
  DISPOSED: 4,
  UNLOADING: 5,
} as const

/** The container behind `ctx`, for the kernel's own files. */
export function containerOf(ctx: Context): Container {
  return ctx as Container
}
