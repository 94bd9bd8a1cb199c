/** What bare `cordage` says in a terminal: what to do next. */
export function welcome(env: Readonly<Record<string, string | undefined>>): string {
  const keys = ['DEEPSEEK', 'OPENAI', 'ANTHROPIC'].flatMap((vendor) => [
    `${vendor}_API_KEY`,
    `${vendor}_BASE_URL`,
  ])
  const found = keys.find((name) => (env[name]?.trim() ?? '') !== '')
  const model =
    found === undefined
      ? `Give it a model first: set DEEPSEEK_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY, or see how a
run looks without one (a recorded model, on the sample project of this checkout): npm start`
      : `A model is there (${found}).`
  return `Cordage is an agent that works in the directory you start it in.

${model}

  cordage "fix the failing test"     do a task here
  cordage continue "now the docs"    go on with the latest session of this directory
  cordage sessions list              what was done before
  cordage doctor                     what works on this machine, and what does not
  cordage --help                     everything else
`
}
