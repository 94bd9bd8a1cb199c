import type { Agent, TurnOutcome } from '@cordage/core/agent'
import type { Invocation, Terminal } from '@cordage/core/command'
import { escapeInJson } from '@cordage/core/error'
import { textOf } from '@cordage/core/message'
import type { HeadlessContext } from './context.ts'
import { escape } from './escape.ts'
import { createProgress } from './progress.ts'

/** What a run says: the answer on stdout, everything else on stderr; or JSON on stdout. */
export interface Report {
  begin(notices: readonly string[]): void
  /** What a command said, where no turn was taken. */
  said(text: string): void
  end(outcome: TurnOutcome): void
}

export function createReport(ctx: HeadlessContext, agent: Agent, invocation: Invocation): Report {
  const { output, terminal, quiet } = invocation
  const route = ctx.models.resolve(agent.choice.model).route
  const progress = createProgress(terminal, agent.session.cwd)
  const line = (value: unknown) => terminal.out(`${escapeInJson(JSON.stringify(value))}\n`)
  const opening = {
    session: agent.session.id,
    model: agent.choice.model,
    scripted: route.scripted === true,
    permission: agent.authority.mode,
    shell: ctx.processes.confinement === 'none' ? 'unconfined' : 'confined',
  }

  return {
    begin(notices) {
      if (output === 'stream-json') line({ type: 'session/open', ...opening, notices })
      else for (const notice of notices) terminal.err(`notice: ${escape(notice)}\n`)
      if (!quiet && output === 'text') progress.opening(opening)
      agent.session.watch(ctx, (update) => {
        if (output === 'stream-json') line(update.kind === 'fact' ? update.fact : update)
        else if (output === 'text' && !quiet) progress.update(update)
      })
    },
    said(text) {
      if (output === 'text') return print(terminal, text)
      const { turn } = agent.session.turn
      const { totals } = agent.account
      line({ type: 'result', ...opening, turn, reason: 'completed', answer: text, ...totals })
    },
    end(outcome) {
      const { totals } = agent.account
      const answer = outcome.answer ? textOf(outcome.answer) : ''
      const result = {
        type: 'result',
        ...opening,
        turn: outcome.turn,
        reason: outcome.reason,
        answer,
        ...(outcome.error ? { error: outcome.error } : {}),
        ...totals,
      }
      if (output !== 'text') return line(result)
      if (!quiet) progress.closing(outcome, totals)
      print(terminal, answer)
      if (outcome.error) terminal.err(failure(outcome, agent))
    },
  }
}

/** A program gets every byte of an answer, a terminal none that would drive it. */
function print({ out, outIsTerminal }: Terminal, text: string): void {
  const shown = outIsTerminal ? escape(text) : text
  if (shown !== '') out(shown.endsWith('\n') ? shown : `${shown}\n`)
}

function failure({ reason, error }: TurnOutcome, agent: Agent): string {
  const resume = `Resume with: cordage resume ${agent.session.id} "go on"`
  return `\n${reason}: ${error?.message} [${error?.code}]\n${resume}\n`
}
