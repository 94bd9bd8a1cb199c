import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from './fixture/cli.ts'
import { makePlace } from './fixture/place.ts'
import { runWarm } from './fixture/warm-cli.ts'

const commands = [
  { args: ['config', 'dump'], code: 0 },
  { args: ['--nonsense'], code: 2 },
  { args: ['sessions', 'show', 'nothing'], code: 1 },
  { args: ['--patch', 'gone.yml', 'config', 'check'], code: 78 },
  { args: ['tools', 'bash', '--output', 'json'], code: 0 },
]

describe('a process that runs one command after the other', () => {
  it('says and comes to what a process for each does, whatever it ran before', async () => {
    await using place = await makePlace('empty')
    await using other = await makePlace('empty')
    await writeFile(join(other.home, 'cordis.patch.yml'), '- { id: tool-bash, disabled: true }\n')
    for (const { args, code } of commands) {
      for (const one of [place, other]) {
        const alone = await runCli(one, args)
        expect(alone).toMatchObject({ code })
        expect(await runWarm(one, args, {})).toEqual(alone)
      }
    }
  })
})
