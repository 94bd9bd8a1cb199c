import { describe, expect, it } from 'vitest'
import { optionsBehind } from '../src/commands/options-behind.ts'
import { createProgram } from '../src/program.ts'

const program = createProgram('0.0.0', () => {})
const moved = (line: string) => optionsBehind(line.split(' '), program).join(' ')

describe('options before a command', () => {
  it.each([
    ['--model a/b continue more', 'continue --model a/b more'],
    ['--model=a/b continue', 'continue --model=a/b'],
    ['--output json sessions list', 'sessions list --output json'],
    ['--quiet --max-steps 2 resume abc', 'resume --quiet --max-steps 2 abc'],
    ['--patch x.yml --safe config check', 'config check --patch x.yml --safe'],
    ['--model a/b run doctor', 'run --model a/b doctor'],
  ])('are those of the command: %s', (line, same) => {
    expect(moved(line)).toBe(same)
  })

  it.each([
    '--model a/b fix continue',
    '--model continue fix',
    '--unknown doctor',
    '--help doctor',
    '-- doctor',
    '- doctor',
    'run --model a/b continue',
    'doctor --output json',
    '--model',
  ])('are left where they are in: %s', (line) => {
    expect(moved(line)).toBe(line)
  })
})
