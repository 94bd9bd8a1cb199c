import { afterEach, describe, expect, it } from 'vitest'
import { say } from '../../../core/test/loop/boot.ts'
import { LONG, snapshot, stage, type Stage } from '../../compaction/test/stage.ts'
import memory from '../src/index.ts'

let made: Stage
afterEach(() => made.close())

describe('the memory of a session', () => {
  it('is read from the log as it is now, and gives nothing that could be changed', async () => {
    made = await stage(
      [say(LONG), say('two'), say(snapshot('short'))],
      { minMessagesToSummarize: 2 },
      { rows: [{ plugin: memory }] },
    )
    const service = made.root.memory.of(made.session)
    expect(await service.listEpisodes()).toEqual([])
    await made.turn('one')
    await made.turn('two')
    await made.command('/compact')
    const [episode] = await service.listEpisodes()
    expect(episode).toMatchObject({ id: 'e1', summary: expect.stringContaining('short') })
    expect(await service.findEpisode('e1')).toEqual(episode)
    expect(await service.findEpisode('e2')).toBeUndefined()
    const { messages } = await service.messagesOf(episode!, { offset: 0, limit: 100 })
    expect(
      messages.every(({ message }) => Object.isFrozen(message) || message.role === 'tool'),
    ).toBe(true)
  })
})
