import type { Skill, SkillSet } from './skill-files.ts'

/** What people are told of skills; `taken` are those whose command belongs to something else. */
export function statusText({ skills, problems }: SkillSet, taken: readonly string[]): string {
  const lines = skills.map((skill) => {
    return `${skill.name}: ${oneLine(skill.description)}\n  ${wayIn(skill, taken)}, ${skill.path}`
  })
  const unused = problems.map(({ path, reason }) => `${path}\n  ${reason}`)
  return [
    ...(lines.length === 0 ? ['There are no skills.'] : lines),
    ...(unused.length === 0 ? [] : ['', 'Not used:', ...unused]),
  ].join('\n')
}

function wayIn({ name, forModel, forPeople }: Skill, taken: readonly string[]): string {
  const command = taken.includes(name) ? `no command: another one is /${name}` : `/${name}`
  if (!forPeople) return forModel ? 'for the model only' : 'for nobody'
  return forModel ? command : `${command}, for people only`
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ')
}
