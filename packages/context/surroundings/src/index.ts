import { definePlugin, type Plugin } from '@cordage/core/kernel'

/** Facts that change: each is its own snapshot, so that one change repeats only one. */
const plugin: Plugin = definePlugin({
  name: 'context-surroundings',
  inject: ['prompt', 'processes'],
  apply(ctx) {
    const { processes } = ctx
    ctx.prompt.context(ctx, {
      id: 'directory',
      order: 0,
      render: ({ cwd, project }) =>
        cwd === project
          ? `Working directory and project: ${quoted(cwd)}`
          : `Working directory: ${quoted(cwd)}\nProject: ${quoted(project)}`,
    })
    ctx.prompt.context(ctx, {
      id: 'runtime',
      order: 20,
      render: ({ provider, model }) =>
        `You run as ${provider}/${model} on ${process.platform}. ` +
        `Commands run in ${processes.shell.kind}; ${confinement(processes.confinement)}.`,
    })
  },
})

export default plugin

/** A path may hold anything but NUL; as JSON it stays on one line and within its quotes. */
function quoted(path: string): string {
  return JSON.stringify(path)
}

function confinement(kind: 'none' | 'kernel'): string {
  return kind === 'none' ? 'they are not confined by the system' : 'the system confines them'
}
