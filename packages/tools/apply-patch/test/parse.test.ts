import { describe, expect, it } from 'vitest'
import { parse, pathsOf } from '../src/parse.ts'

const envelope = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
const reasonOf = (patch: string): string => {
  try {
    parse(patch)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

describe('the patch format of models', () => {
  it('reads added, deleted, updated and moved files', () => {
    const patch = envelope(
      '*** Add File: 新.txt',
      '+一',
      '+',
      '*** Delete File: old.txt',
      '*** Update File: a.py',
      '*** Move to: b.py',
      '@@ class A',
      '@@ def f',
      ' x',
      '-y',
      '+z',
      '',
      '*** End of File',
    )
    expect(parse(patch)).toEqual([
      { kind: 'add', path: '新.txt', text: '一\n\n' },
      { kind: 'delete', path: 'old.txt' },
      {
        kind: 'update',
        path: 'a.py',
        moveTo: 'b.py',
        hunks: [
          {
            anchors: ['class A', 'def f'],
            lines: [
              { op: ' ', text: 'x' },
              { op: '-', text: 'y' },
              { op: '+', text: 'z' },
              { op: ' ', text: '' },
            ],
            atEnd: true,
          },
        ],
      },
    ])
    expect(pathsOf(patch)).toEqual(['新.txt', 'old.txt', 'a.py', 'b.py'])
  })

  it('reads it in a fence, in a here-document, and with CRLF', () => {
    const patch = envelope('*** Delete File: a')
    const wrapped = [`\`\`\`diff\n${patch}\n\`\`\``, `apply_patch <<'EOF'\n${patch}\nEOF\n`]
    for (const text of [...wrapped, patch.replaceAll('\n', '\r\n'), `\n${patch}\n`]) {
      expect(parse(text)).toEqual([{ kind: 'delete', path: 'a' }])
    }
  })

  it('names the line that it cannot read', () => {
    expect(reasonOf(envelope('*** Change File: a'))).toContain('at line 2: expected *** Add File:')
    expect(reasonOf(envelope('*** Add File: a', 'x'))).toContain('at line 3: lines of an added')
    expect(reasonOf(envelope('*** Update File: a', '@@', ' x'))).toContain('changes nothing')
    expect(reasonOf(envelope('*** Update File: a', '@@', '*x'))).toContain('at line 4: lines of a')
  })

  it('refuses a patch that was cut off', () => {
    const patch = '*** Begin Patch\n*** Update File: a\n@@\n-x\n+y'
    expect(reasonOf(patch)).toContain('without *** End Patch')
    expect(pathsOf(patch)).toEqual([])
  })
})

describe('unified diffs', () => {
  it('reads one as git writes it', () => {
    const patch = [
      'diff --git a/x.txt b/y.txt',
      'similarity index 80%',
      'rename from x.txt',
      'rename to y.txt',
      '--- a/x.txt',
      '+++ b/y.txt',
      '@@ -4,2 +4,2 @@ context',
      ' a',
      '-b',
      '+B',
      'diff --git a/new b/new',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/new',
      '@@ -0,0 +1 @@',
      '+hi',
      '\\ No newline at end of file',
      'diff --git a/gone b/gone',
      'deleted file mode 100644',
      '--- a/gone',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-x',
      '',
    ].join('\n')
    expect(parse(patch)).toMatchObject([
      { kind: 'update', path: 'x.txt', moveTo: 'y.txt', hunks: [{ line: 4 }] },
      { kind: 'add', path: 'new', text: 'hi' },
      { kind: 'delete', path: 'gone' },
    ])
    expect(pathsOf(patch)).toEqual(['x.txt', 'y.txt', 'new', 'gone'])
  })

  it('keeps a directory named a where names have no prefixes', () => {
    const patch = '--- a/x.txt\n+++ a/x.txt\n@@ -1 +1 @@\n-a\n+b\n'
    expect(pathsOf(patch)).toEqual(['a/x.txt'])
  })

  it('counts the lines itself, and takes an empty line for context', () => {
    const patch = '--- a\n+++ b\n@@ -1,9 +1,7 @@\n-a\n+b\n\n x\n\n--- c\n+++ c\n@@ -3 +3 @@\n-c\n'
    const [first, second] = parse(patch)
    const lines = ['-a', '+b', ' ', ' x'].map((line) => ({ op: line[0], text: line.slice(1) }))
    expect(first).toMatchObject({ path: 'a', moveTo: 'b', hunks: [{ lines }] })
    expect(second).toMatchObject({ path: 'c', hunks: [{ lines: [{ op: '-', text: 'c' }] }] })
  })

  it('refuses text that is neither', () => {
    expect(reasonOf('please change a to b')).toContain('neither a unified diff nor')
    expect(reasonOf('--- a\n+++ b\n@@ -1 +1 @@\n-a\nxx\n')).toContain('at line 5: lines')
  })
})
