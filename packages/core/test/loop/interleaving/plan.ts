import * as fc from 'fast-check'

/** What the model does with one request. */
export type Reply =
  | { readonly kind: 'calls'; readonly calls: readonly PlannedCall[]; readonly finish: string }
  | { readonly kind: 'say' | 'empty' | 'musing' | 'cut' | 'open' | 'broken' | 'deaf' }

export interface PlannedCall {
  readonly id: string
  readonly name: 'work' | 'alone' | 'wrok'
  readonly does: 'return' | 'throw' | 'odd' | 'deaf' | 'misuse'
}

/** What a hook does where it is asked; what is deaf does the same as the others, much later. */
export type Verdict = 'pass' | 'throw' | 'nonsense' | 'other' | 'deaf' | 'deaf-other'

/** What people do, in order; `at` picks one of the messages that wait. */
export type Input =
  | { readonly kind: 'send' | 'steer' | 'cancel' | 'wake' | 'restart' | 'crash' | 'release' }
  /** The hooks that were deaf so far hear again. */
  | { readonly kind: 'hear' }
  /** The disk is silent, or is full, until it goes on. */
  | { readonly kind: 'hang' | 'fill' | 'go-on' }
  | { readonly kind: 'edit' | 'unsend' | 'reorder'; readonly at: number }
  | { readonly kind: 'time'; readonly ms: number }

export interface Plan {
  readonly replies: readonly Reply[]
  readonly verdicts: readonly Verdict[]
  readonly inputs: readonly Input[]
}

const call = fc.record({
  id: fc.constantFrom('a', 'b', ''),
  name: fc.constantFrom('work', 'work', 'alone', 'wrok'),
  does: fc.constantFrom('return', 'return', 'throw', 'odd', 'deaf', 'misuse'),
}) satisfies fc.Arbitrary<PlannedCall>

const reply = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('calls'),
      calls: fc.array(call, { minLength: 1, maxLength: 3 }),
      finish: fc.constantFrom(
        'tool-calls',
        'tool-calls',
        'stop',
        'max-tokens',
        'content-filter',
        'strange',
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('say', 'empty', 'musing', 'cut', 'open', 'broken', 'deaf'),
    }),
  },
) satisfies fc.Arbitrary<Reply>

const others: Verdict[] = ['other', 'throw', 'nonsense', 'deaf', 'deaf-other']
const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Verdict>('pass') },
  { weight: 5, arbitrary: fc.constantFrom(...others) },
)

const input = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('send', 'send', 'steer', 'cancel', 'wake', 'release'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart', 'crash') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('edit', 'unsend', 'reorder'),
      at: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('time'), ms: fc.constantFrom(100, 500, 2_000) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('hear', 'hang', 'fill', 'go-on') }) },
) satisfies fc.Arbitrary<Input>

export const plan: fc.Arbitrary<Plan> = fc.record({
  replies: fc.array(reply, { maxLength: 8 }),
  verdicts: fc.array(verdict, { maxLength: 20 }),
  inputs: fc.array(input, { maxLength: 8 }).map((more): Input[] => [{ kind: 'send' }, ...more]),
})
