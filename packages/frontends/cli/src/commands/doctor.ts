import { API_VERSION, problemsOf, problemText, type RowReport } from '@cordage/core/compose'
import { describe } from '@cordage/core/error'
import { composeRequestOf, type Harness } from '../boot/boot.ts'
import { measureAgent } from '../plugin/cost.ts'
import { harmless, jsonText, tableText } from '../print/table.ts'
import type { Check } from './doctor-check.ts'
import { checkMachine } from './doctor-machine.ts'
import { checkModels } from './doctor-models.ts'
import { bootOptionsOf, type ListOptions } from './options.ts'
import { withHarness } from './with-harness.ts'

export interface DoctorOptions extends ListOptions {
  /** Asks no server. */
  readonly offline: boolean
  /** Makes anew what is only kept to be quick: the catalog and the index of the sessions. */
  readonly rebuild: boolean
}

/**
 * Says what works here and what does not. 0 when a task could be done, 1 when something needs
 * care; when nothing can start it throws why.
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const checks = checkMachine(composeRequestOf(bootOptionsOf(options)))
  let started = false
  try {
    return await withHarness(options, async (harness) => {
      started = true
      const models = harness.ctx.get('models')
      const { host } = harness
      if (options.rebuild) {
        await harness.ctx.get('store')?.upkeep?.rebuild()
        await harness.ctx.get('sessionQuery')?.rebuild()
      }
      checks.push(...services(harness))
      if (models) checks.push(...(await checkModels(models, { host, offline: options.offline })))
      checks.push(...rows(harness), ...(await presetRows(harness)))
      print(checks, options)
      return checks.some(needsCare) ? 1 : 0
    })
  } catch (error) {
    if (!started) print([...checks, ...refusals(error)], options)
    throw error
  }
}

function needsCare({ what, state }: Check): boolean {
  return state === 'failed' || (what === 'model' && state === 'missing')
}

function print(checks: readonly Check[], { output }: DoctorOptions): void {
  const lines = checks.map(({ what, state, detail }) => [state, what, harmless(detail)])
  process.stdout.write(output === 'json' ? jsonText(checks) : tableText(lines))
}

function refusals(error: unknown): Check[] {
  const problems = problemsOf(error).map(problemText)
  const reasons = problems.length > 0 ? problems : [describe(error).message]
  return reasons.map((detail) => ({ what: 'start', state: 'failed', detail }))
}

function services({ ctx }: Harness): Check[] {
  const store = ctx.get('store')
  const processes = ctx.get('processes')
  const files = ctx.get('fs')
  const checks: Check[] = []
  if (store) checks.push({ what: 'sessions', state: 'ok', detail: store.location })
  if (files) {
    const held = files.guarantee === 'full'
    const detail = held
      ? 'full: a decided path cannot be swapped before it is used'
      : 'partial: this system cannot hold a directory open, so a swapped path could escape'
    checks.push({ what: 'file gate', state: held ? 'ok' : 'partial', detail })
  }
  if (processes) {
    const confined = processes.confinement !== 'none'
    const detail = confined
      ? `${processes.shell.kind}, confined by the system`
      : `${processes.shell.kind}, shell: unconfined: a command can do what you can`
    checks.push({ what: 'commands', state: confined ? 'ok' : 'partial', detail })
  }
  return checks
}

function rows(harness: Harness): Check[] {
  const report = harness.report()
  const active = report.filter(({ state }) => state === 'active').length
  const others = report.filter(({ state }) => state !== 'active')
  const wanted = report.filter(({ state }) => state !== 'disabled').length
  const detail = `${active} of ${wanted} active, api ${API_VERSION}`
  return [{ what: 'rows', state: 'ok', detail }, ...others.map(checkRow)]
}

/** Rows of agents start with an agent: one is made of them to see, and taken apart again. */
async function presetRows({ ctx, host }: Harness): Promise<Check[]> {
  try {
    const { reports, failing, findings } = await measureAgent(ctx, host)
    const unused = findings.map(({ path, reason }): Check => {
      return { what: 'file', state: 'partial', detail: `${path}: ${reason}` }
    })
    const checks = [...reports.filter(({ state }) => state !== 'active').map(checkRow), ...unused]
    if (failing === undefined) return checks
    return [...checks, { what: failing.id, state: 'failed', detail: failing.reason }]
  } catch (error) {
    return refusals(error)
  }
}

/** What somebody switched off is as it was meant. */
function checkRow({ id, state, reason = '' }: RowReport): Check {
  const detail = `${state}: ${reason}`
  return { what: id, state: state === 'disabled' ? 'ok' : 'failed', detail }
}
