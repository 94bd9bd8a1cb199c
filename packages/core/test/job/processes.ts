import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Prints a line each 10 ms, and has a child in another session; both write their pids. */
export const SERVER =
  'setsid sh -c "echo \\$\\$ > far; exec sleep 60" & echo $$ > near; ' +
  'until [ -s far ]; do sleep 0.01; done; ' +
  'n=0; while :; do n=$((n+1)); echo line $n; sleep 0.01; done'

export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat !== '' && !/\) Z /.test(stat)
}

/** The pid that a process writes to `name`, once it has. */
export async function readPid(directory: string, name: string): Promise<number> {
  for (;;) {
    const text = await readFile(join(directory, name), 'utf8').catch(() => '')
    if (text.endsWith('\n')) return Number(text)
    await sleep(10)
  }
}

export async function serverPids(directory: string): Promise<number[]> {
  return [await readPid(directory, 'near'), await readPid(directory, 'far')]
}
