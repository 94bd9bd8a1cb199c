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
    ctx.prompt.context(ctx, { id: 'date', order: 10, render: () => `Today is ${today()}.` })
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

/** Of this place. `toLocaleDateString` would load the tables of all languages: 8 MB for a date. */
function today(): string {
  const now = new Date()
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

function confinement(kind: 'none' | 'kernel'): string {
  return kind === 'none' ? 'they are not confined by the system' : 'the system confines them'
}
