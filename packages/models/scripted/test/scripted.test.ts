import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { footprint } from '@cordage/core/kernel'
import { textOf, toolCallsOf } from '@cordage/core/message'
import type { ModelEvent } from '@cordage/core/model'
import { ask, makeRequest, say } from '@cordage/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answer, boot, play, result } from './play.ts'

describe('model-scripted', () => {
  it('adds one provider that is never a default, and leaves nothing behind', async () => {
    const { root, row, before } = await boot()
    const [route] = root.models.providers()
    expect(route).toMatchObject({ id: 'scripted', scripted: true })
    expect(route?.declared().map(({ id }) => id)).toEqual(['fix-a-bug'])
    expect(root.models.default()).toBeUndefined()
    await row.dispose()
    expect(footprint(root)).toEqual(before)
  })

  it('goes on where the answers in the request end', async () => {
    const scripts = { s: { steps: [{ text: 'one' }, { text: 'two' }] } }
    const asked = say.user('go')
    expect(textOf(await play('s', scripts, asked))).toBe('one')
    expect(textOf(await play('s', scripts, asked, answer('one')))).toBe('two')
    const over = await play('s', scripts, asked, answer('one'), answer('two'))
    expect(textOf(over)).toContain('ends here')
    expect(over.finish).toBe('stop')
  })

  it('takes a detour while its condition holds, a bounded number of times', async () => {
    const again = { when: { lastToolName: 'bash', lastToolLacks: 'ok' }, text: 'again', times: 2 }
    const scripts = { s: { steps: [{ text: 'try' }, again, { text: 'done' }] } }
    const tried = [say.user('go'), answer('try')]
    expect(textOf(await play('s', scripts, ...tried, result('ok')))).toBe('done')
    const once = [...tried, result('bad')]
    expect(textOf(await play('s', scripts, ...once))).toBe('again')
    expect(textOf(await play('s', scripts, ...once, answer('again'), result('ok')))).toBe('done')
    const twice = [...once, answer('again'), result('bad'), answer('again'), result('bad')]
    expect(textOf(await play('s', scripts, ...twice))).toBe('done')
  })

  it('gives an answer again that was cut off before its calls', async () => {
    const calls = [{ name: 'list', arguments: { path: '.' } }]
    const scripts = { s: { steps: [{ text: 'look', calls }, { text: 'done' }] } }
    const whole = await play('s', scripts, say.user('go'))
    expect(toolCallsOf(whole)).toMatchObject([{ id: 'call_1', arguments: '{"path":"."}' }])
    const cut = await play('s', scripts, say.user('go'), answer('loo'))
    expect(toolCallsOf(cut)).toHaveLength(1)
    const kept = say.assistant('scripted', 's', whole.content)
    expect(textOf(await play('s', scripts, say.user('go'), kept, result('ok')))).toBe('done')
  })

  it('fails as often as recorded, then answers', async () => {
    const scripts = { s: { steps: [{ fail: 'RATE_LIMIT', failures: 2, text: 'at last' }] } }
    const { root } = await boot(scripts)
    const { route } = root.models.resolve('scripted/s')
    const request = makeRequest('scripted', 's', [say.user('go')])
    for (const _ of [1, 2]) {
      await expect(ask(route, request)).rejects.toMatchObject({ code: 'RATE_LIMIT' })
    }
    expect(textOf(await ask(route, request))).toBe('at last')
  })

  it('fails as often as recorded also when the run is in a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cordage-scripts-'))
    const run = { steps: [{ fail: 'RATE_LIMIT', failures: 1, text: 'at last' }] }
    writeFileSync(join(folder, 's.json'), JSON.stringify(run))
    try {
      const { root } = await boot(folder)
      const { route } = root.models.resolve('scripted/s')
      const request = makeRequest('scripted', 's', [say.user('go')])
      await expect(ask(route, request)).rejects.toMatchObject({ code: 'RATE_LIMIT' })
      expect(textOf(await ask(route, request))).toBe('at last')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('streams in pieces and stops with the reason of its signal', async () => {
    const scripts = { s: { steps: [{ text: 'x'.repeat(100), delayMs: 20 }] } }
    const { root } = await boot(scripts)
    const { route } = root.models.resolve('scripted/s')
    const request = makeRequest('scripted', 's', [say.user('go')])
    const controller = new AbortController()
    const seen: ModelEvent[] = []
    const reading = (async () => {
      const { signal } = controller
      for await (const event of route.stream(request, await route.body(request), { signal })) {
        seen.push(event)
        controller.abort('enough')
      }
    })()
    await expect(reading).rejects.toBe('enough')
    expect(seen).toEqual([{ type: 'text', text: 'x'.repeat(16) }])
  })

  it('reads a folder, and names the file of a script that is wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cordage-scripts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'mine.yml'), 'steps: [{ text: hello }]\n')
    writeFileSync(join(folder, 'wrong.yml'), 'steps: [{ txt: hello }]\n')
    expect(textOf(await play('mine', folder, say.user('go')))).toBe('hello')
    await expect(play('wrong', folder, say.user('go'))).rejects.toThrow(/wrong\.yml/)
    await expect(play('nobody', folder, say.user('go'))).rejects.toThrow(/fix-a-bug, mine, wrong/)
  })
})
