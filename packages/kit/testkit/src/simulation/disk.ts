import type { Io } from '@cordage/core/store'
import type { Faults, IoCall } from './fault.ts'
import { processIo } from './process-io.ts'
import { seededRandom } from './random.ts'
import type { Schedule } from './schedule.ts'
import { Place } from './place.ts'
import { SimulatedProcess } from './process.ts'
import { afterPowerCut, copyTree, newDirectory, syncTree, type DirectoryNode } from './volume.ts'

export interface ProcessOptions {
  readonly faults?: Faults
  /** Awaited before each call, for interleavings: `seededSchedule`. */
  readonly schedule?: Schedule
}

export interface DiskOptions extends ProcessOptions {
  /** Folders that are there, and durable, from the beginning. */
  readonly folders?: readonly string[]
  /** Draws what a crash loses and where a call is cut. */
  readonly seed?: number
  /** A write is torn between two of these; 512 unless given. */
  readonly blockBytes?: number
  /**
   * What a power cut takes of what was not synced: `last`, of each file and folder the changes
   * after some point; `any`, each block by itself, with zeros before what is kept.
   */
  readonly loses?: 'last' | 'any'
}

/** A disk in memory as one process sees it: it promises what the contract of `Io` says, no more. */
export interface SimulatedDisk {
  readonly io: Io
  /** What this process has called so far. */
  readonly calls: readonly IoCall[]
  /** False once a fault or `kill` has ended it: every further call fails and does nothing. */
  readonly alive: boolean
  /** Ends this process: its locks are free, the disk stays. */
  kill(): void
  /** Another live process over the same disk. */
  another(options?: ProcessOptions): SimulatedDisk
  /**
   * A copy of the disk as a process finds it that starts after all others have ended: by `kill -9`,
   * which takes nothing that was written, or with the power, which takes what was not synced.
   */
  crash(how: 'kill' | 'power', options?: DiskOptions): SimulatedDisk
}

export function simulatedDisk(options: DiskOptions = {}): SimulatedDisk {
  const root = newDirectory(0)
  for (const path of options.folders ?? []) makeDurable(root, path)
  return diskOver(root, options)
}

function makeDurable(root: DirectoryNode, path: string): void {
  new Place(root, path).makeDirectories(Infinity)
  syncTree(root)
}

function diskOver(root: DirectoryNode, options: DiskOptions): SimulatedDisk {
  const { seed = 0, blockBytes = 512, loses = 'last', ...rest } = options
  const random = seededRandom(seed)
  const start = (more: ProcessOptions): SimulatedDisk => {
    const process = new SimulatedProcess(random, more)
    return {
      io: processIo(process, root),
      calls: process.calls,
      get alive() {
        return process.alive
      },
      kill: () => process.kill(),
      another: (other = {}) => start(other),
      crash(how, next = {}) {
        const left = how === 'kill' ? copyTree(root) : afterPowerCut(root, cut(next))
        return diskOver(left, { seed: seed + 1, blockBytes, loses, ...next })
      },
    }
  }
  const cut = (next: DiskOptions) => ({
    random: seededRandom(next.seed ?? seed + 1),
    blockBytes,
    loses,
  })
  return start(rest)
}
