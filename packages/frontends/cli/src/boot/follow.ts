import { join, resolve } from 'node:path'
import { problemsOf, type Change, type Composer, type Problem } from '@cordage/core/compose'
import { describeFailure, log, type RootContext } from '@cordage/core/kernel'
import { installationRoot } from './installation.ts'
import {
  CATALOGUE_FILE,
  composeProfile,
  LAYER_FILE,
  type ComposedProfile,
  type ComposeRequest,
} from './layers.ts'
import { watchLayers, type LayerWatch } from './watch.ts'

/** An edit that was not taken: what ran before goes on. */
export interface Rejection {
  /** All that is wrong with it, by file and line; none where a file could not even be read. */
  readonly problems: readonly Problem[]
  readonly error: unknown
}

export interface FollowOptions {
  readonly request: ComposeRequest
  readonly running: ComposedProfile
  readonly root: RootContext
  readonly composer: Composer
  onComposed(composed: ComposedProfile, change: Change): void
  onRejected(rejection: Rejection): void
}

/** Lets what runs follow its layers until it is closed. */
export function followLayers(options: FollowOptions): LayerWatch {
  const { root, composer } = options
  let { running } = options
  // Whoever started from the record wants the layers again as soon as somebody corrects them.
  const request = { ...options.request, lastGood: false }
  return watchLayers({
    ...(options.request.lastGood ? {} : { running }),
    paths: () => pathsOf(request, running),
    read: () => composeProfile(request),
    async apply(composed) {
      const change = await composer.apply(composed.composition)
      const { added, changed, removed, restarted, presets, refused } = change
      const fields = { added, changed, removed, restarted, presets }
      log(root, 'info', 'a changed layer was applied', fields)
      for (const { id, state, reason } of refused)
        log(root, 'warn', `row ${id} is ${state}`, { reason })
      running = composed
      options.onComposed(composed, change)
    },
    onRejected(error) {
      log(root, 'error', 'a changed layer was rejected', { error: describeFailure(error) })
      options.onRejected({ problems: problemsOf(error), error })
    },
  })
}

/** Every file whose change may change the composition, by each name that it goes by. */
function pathsOf(request: ComposeRequest, { profile, layers }: ComposedProfile): string[] {
  const { home, cwd, patches, safe } = request
  const people = [
    join(installationRoot(), LAYER_FILE),
    join(home, LAYER_FILE),
    join(home, CATALOGUE_FILE),
    ...patches.map((path) => resolve(cwd, path)),
  ]
  const manifests = [profile.folder, join(home, 'profiles', profile.name)]
  return [
    ...layers.map(({ file }) => file),
    ...profile.files.map(({ file }) => file),
    ...manifests.map((folder) => join(folder, 'package.json')),
    ...(safe ? [] : people),
  ]
}
