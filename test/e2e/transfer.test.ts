import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makePlace, repository, type Place } from './fixture/place.ts'
import { latestSession } from './fixture/read-log.ts'
import { runCli } from './fixture/warm-cli.ts'

const transcripts = join(repository, 'packages/frontends/cli/test/fixtures/import')

async function cordage(place: Place, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(place, args)
  expect(code, stderr).toBe(0)
  return stdout
}

async function shown(place: Place, id: string): Promise<{ header: object; facts: object[] }> {
  const text = await cordage(place, 'sessions', 'show', id, '--output', 'json')
  return JSON.parse(text) as { header: object; facts: object[] }
}

interface Result {
  readonly status: string
  readonly from: string
  readonly session: string
}

async function bring(place: Place, ...args: string[]): Promise<Result[]> {
  const text = await cordage(place, 'sessions', 'import', ...args, '--output', 'json')
  return JSON.parse(text) as Result[]
}

describe('sessions export and import', () => {
  it('carry a session from one home to another as it was', async () => {
    await using place = await makePlace()
    await cordage(place, '--model', 'scripted/fix-a-bug', 'fix the failing test')
    const id = latestSession(place.home)
    const out = join(place.project, 'session.jsonl')
    await cordage(place, 'sessions', 'export', id, '--out', out)
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    expect(await cordage(place, 'sessions', 'export', id)).toBe(await readFile(out, 'utf8'))
    const again = await runCli(place, ['sessions', 'export', id, '--out', out])
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('EXPORT_EXISTS')])

    await using other = await makePlace('empty')
    const [result] = await bring(other, out)

    expect(result).toMatchObject({ status: 'imported', from: 'cordage', session: id })
    const [before, after] = [await shown(place, id), await shown(other, id)]
    expect(after.header).toEqual(before.header)
    expect(after.facts).toEqual(before.facts)
    expect(await bring(other, out)).toMatchObject([{ status: 'already' }])
  })

  it('bring transcripts of other programs, to go on with by any model', async () => {
    await using place = await makePlace()
    const results = await bring(place, transcripts, '--project', place.project)
    expect(results.map(({ from, status }) => [from, status])).toEqual([
      ['claude-code', 'imported'],
      ['codex', 'imported'],
      ['codex', 'imported'],
      ['dsh', 'imported'],
      ['opencode', 'imported'],
      ['pi', 'imported'],
    ])
    expect(new Set((await bring(place, transcripts)).map(({ status }) => status))).toEqual(
      new Set(['already']),
    )
    const ids = results.map(({ session }) => session)
    for (const id of ids.slice(4)) {
      const model = ['--model', 'scripted/fix-a-bug', '--quiet']
      expect(await cordage(place, 'resume', id, ...model, 'go on')).toContain('The bug is fixed')
    }
    const page = join(place.project, 'session.html')
    await cordage(place, 'sessions', 'export', ids[0] ?? '', '--out', page)
    const html = await readFile(page, 'utf8')
    expect(html).toContain('imported from claude-code')
    expect(html).toContain(`id="session-agent-1-${ids[0]}"`)
    const usage = await cordage(place, 'sessions', 'usage', ids[0] ?? '')
    expect(usage).toMatch(/^child agent-2-claude-code/m)
  })

  it('say what is no transcript, and go on behind one that is broken', async () => {
    await using place = await makePlace('empty')
    const none = await runCli(place, ['sessions', 'import', place.project])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('IMPORT_UNKNOWN')])
    const folder = join(place.project, 'transcripts')
    await mkdir(folder)
    await cp(join(transcripts, 'pi'), join(folder, 'pi'), { recursive: true })
    const empty = { type: 'session', version: 3, id: 'a', timestamp: '2025-11-03T09:00:00Z' }
    await writeFile(join(folder, 'empty.jsonl'), `${JSON.stringify(empty)}\n`)
    const { code, stdout } = await runCli(place, ['sessions', 'import', folder])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^failed {4}pi: .*empty\.jsonl$/m)
    expect(stdout).toMatch(/^imported {2}pi-444455556666-/m)
  })
})
