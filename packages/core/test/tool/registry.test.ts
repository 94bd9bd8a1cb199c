import { footprint, openScope } from '@cordage/core/kernel'
import { describe, expect, it } from 'vitest'
import { openBench, toolRow } from './bench.ts'
import { makeTool } from './make-tool.ts'

const tool = (name: string, more: Parameters<typeof makeTool>[2] = {}) => {
  return makeTool(name, async () => name, more)
}
const fails = (): never => {
  throw new Error('x')
}
const input = { provider: 'p', model: 'm', input: ['text'] }

describe('the tools of a step', () => {
  it('are in the order of their names, frozen, whatever the order of loading', async () => {
    await using bench = await openBench({ tools: [tool('b'), tool('c')] })
    await bench.mount('tool-more', toolRow([tool('a'), tool('B')]))
    const { specs, tools, rows } = bench.root.tools.resolve(bench.scope, input)
    expect(specs.map(({ name }) => name)).toEqual(['B', 'a', 'b', 'c'])
    expect([...tools.keys()]).toEqual(['B', 'a', 'b', 'c'])
    expect(rows.get('a')).toBe('tool-more')
    expect(Object.isFrozen(specs)).toBe(true)
  })

  it('leave out what a condition or a restriction withholds, with the reason', async () => {
    const conditional = [
      tool('images', { when: (step) => step.input.includes('image') || 'takes no images' }),
      tool('breaks', { when: fails }),
      tool('shell'),
      tool('plain'),
    ]
    await using bench = await openBench({ tools: conditional })
    const { root, scope } = bench
    root.tools.restrict(scope.ctx, ['shell'], 'the preset has no shell')
    const resolved = root.tools.resolve(scope, input)
    expect([...resolved.tools.keys()]).toEqual(['plain'])
    expect(Object.fromEntries(resolved.status.map(({ name, reason }) => [name, reason]))).toEqual({
      breaks: 'the condition of row test-tools failed',
      images: 'takes no images',
      plain: undefined,
      shell: 'the preset has no shell',
    })
    const other = openScope(root, 'other')
    expect(root.tools.resolve(other, input).tools.has('shell')).toBe(true)
    await other.close()
  })

  it('of a scope override global ones there, and are gone with it', async () => {
    await using bench = await openBench({ tools: [tool('a')] })
    const { root } = bench
    const before = footprint(root)
    const scope = openScope(root, 'child')
    root.tools.register(scope.ctx, tool('a', { description: 'Mine.' }))
    root.tools.register(scope.ctx, tool('own'))
    root.tools.restrict(scope.ctx, ['nothing'], 'x')
    const described = (at: typeof scope) => {
      return root.tools.resolve(at, input).specs.map(({ name, description }) => [name, description])
    }
    expect(described(scope)).toEqual([
      ['a', 'Mine.'],
      ['own', 'Does own.'],
    ])
    expect(described(bench.scope)).toEqual([['a', 'Does a.']])
    await scope.close()
    expect(footprint(root)).toEqual(before)
  })

  it('of an agent are not those of its child, and what is hidden from it is from both', async () => {
    await using bench = await openBench({ tools: [tool('a'), tool('b')] })
    const { root, scope: parent } = bench
    root.tools.register(parent.ctx, tool('shell'))
    root.tools.register(parent.ctx, tool('a', { description: 'Of the parent.' }))
    root.tools.restrict(parent.ctx, ['b'], 'not here')
    const child = openScope(root, 'child', parent)
    const { specs } = root.tools.resolve(child, input)
    expect(specs.map(({ description }) => description)).toEqual(['Does a.'])
    await child.close()
  })

  it('are refused at registration when no model could be told of them', async () => {
    await using bench = await openBench({ tools: [tool('a')] })
    const { root } = bench
    const register = (more: ReturnType<typeof tool>) => () => root.tools.register(root, more)
    expect(register(tool('has space'))).toThrow(/no tool name/)
    const stability = 'forever' as 'stable'
    expect(register(tool('odd', { stability }))).toThrow('tool odd is declared "forever"')
    expect(register(tool('a'.repeat(65)))).toThrow(/no tool name/)
    expect(register(tool('mute', { description: ' ' }))).toThrow(/no description/)
    expect(register(tool('a'))).toThrow(/already registered by test-tools/)
  })
})
