import { openProject, type Project } from '../../../core/test/loop/project.ts'
import instructions from '../src/index.ts'

export interface Instructed extends Project {
  /** What the model was told of instructions, in order, as `[id, text]`. */
  instructed(): [id: string, text: string][]
}

export interface InstructedOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly config?: Readonly<Record<string, unknown>>
}

export async function openInstructed(options: InstructedOptions = {}): Promise<Instructed> {
  const { files = {}, config = {} } = options
  const project = await openProject({ files, rows: [{ plugin: instructions, config }] })
  return Object.assign(project, { instructed: () => project.told('instructions') })
}
