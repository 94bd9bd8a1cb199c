export const SNAPSHOT_PARTS = [
  'overall_goal',
  'key_knowledge',
  'file_system_state',
  'recent_actions',
  'current_plan',
] as const

/** Asks for a snapshot that the work can go on from. Another one must ask for the same elements. */
export const DEFAULT_SUMMARY_PROMPT = `The conversation above is about to be replaced by what you
write now, and whoever goes on will see nothing else of it. Write in the language that the user
writes in. Do not call tools. Answer with exactly this, and nothing before or after it:

<state_snapshot>
<overall_goal>What the user wants, the acceptance criteria, what was forbidden.</overall_goal>
<key_knowledge>Facts that were confirmed, each with where it comes from; decisions and why; exact
ids, names, interfaces and commands. Mark what was only assumed.</key_knowledge>
<file_system_state>Files that were read, made, changed or removed, with what matters in each.
</file_system_state>
<recent_actions>What was done last and what came of it: test results, errors that are still open.
</recent_actions>
<current_plan>The steps of the plan, done, under way or open, and the next action.</current_plan>
</state_snapshot>

An element without content says "none".`
