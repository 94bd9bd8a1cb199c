import { assert } from './assert.ts'
import type { Context } from './context.ts'
import type { Plugin } from './plugin.ts'

export type RowState =
  | { readonly state: 'active' }
  | { readonly state: 'waiting'; readonly needs: string[] }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'loading' }
  | { readonly state: 'disposed' }

export interface MountOptions {
  readonly id: string
  readonly plugin: AnyPlugin
  readonly config: unknown
  readonly timeoutMs: number
}

export type AnyPlugin = Plugin | object

export interface Mounted {
  readonly id: string
  readonly plugin: AnyPlugin
  state(): RowState
  settled(): Promise<RowState>
  update(config: unknown): Promise<void>
  dispose(): Promise<void>
}

export function mount(ctx: Context, options: MountOptions): Mounted {
  assert(!ctx, `mount of ${options.id} is not written yet`)
}
