import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cleanEnv } from './fixture/cli.ts'
import { besideCordage } from './fixture/installation.ts'
import { compileCache, makePlace, type Place } from './fixture/place.ts'

const script = besideCordage(join(import.meta.dirname, 'fixture/watching.ts'))

interface Said {
  readonly event: string
  readonly change?: Record<
    'added' | 'changed' | 'removed' | 'restarted' | 'kept' | 'presets',
    string[]
  >
  readonly problems?: { file: string; line: number; code: string; row?: string }[]
  readonly error?: string
  readonly states?: Record<string, string>
  readonly retries?: unknown
  readonly reason?: string
  readonly answer?: string
  readonly results?: number
}

/** The program of the fixture while it runs; it is ended at the end of the test. */
interface Watching extends AsyncDisposable {
  /** The next event of that kind; events of other kinds are passed over. */
  next(event: string): Promise<Said>
  /** What was said so far and not taken by `next`. */
  said(): readonly Said[]
  tell(command: string): void
  /** Ends the program in order. */
  end(): Promise<number | null>
}

async function watching(place: Place, ...flags: string[]): Promise<Watching> {
  const child = spawn(process.execPath, [script, place.home, place.project, ...flags], {
    env: cleanEnv(place, { NODE_COMPILE_CACHE: compileCache }),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said: Said[] = []
  const waiting = new Set<() => void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line) as Said)
    for (const wake of waiting) wake()
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const next = async (event: string): Promise<Said> => {
    for (;;) {
      const at = said.findIndex((one) => one.event === event)
      if (at >= 0) return said.splice(0, at + 1).at(-1)!
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      const code = await Promise.race([promise, exited])
      waiting.delete(resolve)
      if (typeof code === 'number') throw new Error(`it ended with ${code} before ${event}`)
    }
  }
  await next('ready')
  return {
    next,
    said: () => said,
    tell: (command) => void child.stdin.write(`${command}\n`),
    end() {
      child.stdin.end()
      return exited
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const layerOf = ({ home }: Place) => join(home, 'cordis.patch.yml')
const retries = (count: number) => `- { id: policy-retry, merge: { maxRetries: ${count} } }\n`
const SLOW = `- id: model-scripted
  config:
    scripts:
      slow:
        steps:
          - { text: Looking, delayMs: 1500, calls: [{ name: list, arguments: {} }] }
          - { text: Still looking, delayMs: 1500, calls: [{ name: list, arguments: {} }] }
          - { text: Done, delayMs: 1500 }
`

describe('a layer that is edited while a program runs', () => {
  it('is applied by its difference, whichever way an editor writes it', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await using program = await watching(place)

    // A file where there was none.
    await writeFile(layer, retries(1))
    const { change } = await program.next('composed')
    expect(change).toMatchObject({
      added: [],
      changed: ['policy-retry'],
      removed: [],
      restarted: [],
    })
    expect(change?.kept).toContain('core-agent')

    // A file that is moved over the old one.
    await writeFile(`${layer}.swp`, retries(2))
    await rename(`${layer}.swp`, layer)
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
    program.tell('report')
    expect((await program.next('report')).retries).toMatchObject({ maxRetries: 2 })

    // A file that is taken away.
    await rm(layer)
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
    program.tell('report')
    expect((await program.next('report')).retries).not.toMatchObject({ maxRetries: 2 })

    // A preset, which agents made later get.
    await writeFile(layer, '- { id: tool-bash, merge: { timeoutMs: 1000 } }\n')
    expect((await program.next('composed')).change).toMatchObject({
      changed: [],
      presets: ['standard'],
    })
    expect(await program.end()).toBe(0)
  })

  it('keeps what runs when it is wrong, and says so once with every place', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await writeFile(layer, retries(3))
    await using program = await watching(place)

    await writeFile(
      layer,
      `${retries(4)}- { id: tool-bsh, disabled: true }\n- { id: tool-bash, disabled: yes }\n`,
    )
    const { problems } = await program.next('rejected')
    expect(problems?.map(({ file, line, code }) => [file, line, code])).toEqual([
      [layer, 2, 'ROW_UNKNOWN'],
      [layer, 3, 'ROW_INVALID'],
    ])
    await writeFile(`${layer}.other`, 'an unrelated file')
    await sleep(1500)
    program.tell('report')
    const report = await program.next('report')
    expect(report.retries).toMatchObject({ maxRetries: 3 })
    expect(report.states?.['policy-retry']).toBe('active')
    expect(program.said()).toEqual([])

    // What fails only when it starts is taken back too.
    await writeFile(
      join(place.home, 'boom.mjs'),
      'export default { apply() { throw new Error("boom") } }',
    )
    await writeFile(layer, `${retries(5)}- insert: [{ id: boom, name: ./boom.mjs }]\n`)
    expect((await program.next('rejected')).problems).toMatchObject([
      { row: 'boom', line: 2, code: 'ROW_FAILED' },
    ])
    program.tell('report')
    expect((await program.next('report')).retries).toMatchObject({ maxRetries: 3 })
    await writeFile(layer, retries(6))
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
  })

  it('is not taken half written, nor empty on the way to its new text', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await writeFile(layer, retries(1))
    await using program = await watching(place)
    for (const part of ['', '- { id: policy-retry, merge: { maxRe', retries(7)]) {
      await writeFile(layer, part)
      await sleep(400)
    }
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
    program.tell('report')
    expect((await program.next('report')).retries).toMatchObject({ maxRetries: 7 })
    expect(program.said()).toEqual([])
  })

  it('ends at its last text after many edits, one applied after the other', async () => {
    await using place = await makePlace('empty')
    await using program = await watching(place)
    for (let count = 1; count <= 20; count++) {
      await writeFile(layerOf(place), retries(count))
      await sleep(count * 15)
    }
    const asked = () => {
      program.tell('report')
      return program.said().findLast(({ event }) => event === 'report')?.retries
    }
    await expect.poll(asked, { timeout: 60_000, interval: 100 }).toMatchObject({ maxRetries: 20 })
    expect(program.said().filter(({ event }) => event === 'rejected')).toEqual([])
    await writeFile(layerOf(place), retries(21))
    expect(await program.end()).toBe(0)
  })

  it('is followed through a link whose target is swapped, as a mounted volume does', async () => {
    await using place = await makePlace('empty')
    const versions = join(place.home, 'versions')
    for (const count of [1, 2]) {
      await mkdir(join(versions, String(count)), { recursive: true })
      await writeFile(join(versions, String(count), 'patch.yml'), retries(count))
    }
    await symlink(join(versions, '1'), join(place.home, '..data'))
    await symlink(join(place.home, '..data', 'patch.yml'), layerOf(place))
    await using program = await watching(place)
    await symlink(join(versions, '2'), join(place.home, '..fresh'))
    await rename(join(place.home, '..fresh'), join(place.home, '..data'))
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
  })

  it('stands while something else is in the place of its file', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await using program = await watching(place)
    let count = 0
    for (const put of [
      () => mkdir(layer),
      () => promisify(execFile)('mkfifo', [layer]),
      () => symlink(join(place.base, 'nothing.yml'), layer),
      () => symlink(layer, layer),
    ]) {
      await writeFile(`${layer}.new`, retries(++count))
      if (count === 2) await rmdir(layer)
      await rename(`${layer}.new`, layer)
      await program.next('composed')
      await rm(layer)
      await put()
      expect((await program.next('rejected')).error).toContain(`The layer ${layer} cannot be read`)
      program.tell('report')
      expect((await program.next('report')).retries).toMatchObject({ maxRetries: count })
    }
    expect(await program.end()).toBe(0)
  })

  it('that a start with --last-good passed over is taken once it is corrected', async () => {
    await using place = await makePlace('empty')
    await writeFile(layerOf(place), retries(1))
    await (await watching(place)).end()
    await writeFile(layerOf(place), '- {')
    await using program = await watching(place, '--last-good')
    program.tell('report')
    expect((await program.next('report')).retries).toMatchObject({ maxRetries: 1 })
    await writeFile(layerOf(place), retries(2))
    expect((await program.next('composed')).change?.changed).toEqual(['policy-retry'])
  })
})

describe('a session in progress', () => {
  it('goes on through edits of other rows and of its own preset', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await writeFile(layer, SLOW)
    await using program = await watching(place)
    program.tell('turn')
    await program.next('started')
    await writeFile(layer, `${SLOW}${retries(2)}- { id: tool-list, disabled: true }\n`)
    expect((await program.next('composed')).change).toMatchObject({
      changed: ['policy-retry'],
      presets: ['standard'],
    })
    await writeFile(
      layer,
      `${SLOW}${retries(2)}- { id: core-loop, merge: { maxContinuations: 4 } }\n`,
    )
    expect((await program.next('composed')).change?.changed).toEqual(['core-loop'])
    expect(await program.next('ended')).toMatchObject({
      reason: 'completed',
      answer: 'Done',
      results: 2,
    })
  })

  it('is not ended by an edit of what carries it: that is rejected until it ended', async () => {
    await using place = await makePlace('empty')
    const layer = layerOf(place)
    await writeFile(layer, SLOW)
    await using program = await watching(place)
    program.tell('turn')
    await program.next('started')
    const edit = '- { id: store-jsonl, merge: { segmentMaxBytes: 100000 } }\n'
    await writeFile(layer, SLOW + edit)
    expect((await program.next('rejected')).problems).toMatchObject([
      { row: 'store-jsonl', code: 'ROW_IN_USE', file: layer },
    ])
    expect((await program.next('ended')).reason).toBe('completed')
    await program.next('closed')
    await writeFile(layer, `${SLOW}${edit}# again\n`)
    const { change } = await program.next('composed')
    expect(change?.changed).toEqual(['store-jsonl'])
    expect(change?.restarted).toContain('core-agent')
  })
})
