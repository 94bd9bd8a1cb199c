import { reasonOf } from '../kernel/index.ts'
import { LineCounter, parseDocument } from 'yaml'
import type { Document, ScalarTag } from 'yaml'
import type { Located } from './located.ts'
import { problem } from './problem.ts'
import type { LayerKind, Origin, Problem } from './problem.ts'
import { envReference, pathReference } from './reference.ts'
import { TreeReader } from './tree-reader.ts'

/** One file of the composition. Composing does no I/O: whoever calls it has read the text. */
export interface LayerSource {
  kind: LayerKind
  name: string
  file: string
  text: string
  /** Why there is no text, of a plugin's layer: it costs the plugin and nothing else. */
  unreadable?: string
}

/** The entries of one layer; a layer with problems has no entries. */
export interface Layer {
  source: LayerSource
  entries: readonly Located[]
  problems: Problem[]
}

/** Reads the YAML of a layer, a list of operations. Never throws: what is wrong is a problem. */
export function readLayer(source: LayerSource): Layer {
  return { source, ...read(source, (reader) => reader.readTop()) }
}

/** The one value of a file that is no list of operations; none where it cannot be read. */
export function readWhole(source: LayerSource): Read {
  return read(source, (reader) => reader.readWhole())
}

type Read = Omit<Layer, 'source'>

const failed = (problems: Problem[]): Read => ({ entries: [], problems })

function read(source: LayerSource, readTree: (reader: TreeReader) => Read): Read {
  const lines = new LineCounter()
  const at = (offset: number): Origin => {
    const { line } = lines.linePos(offset)
    return { kind: source.kind, file: source.file, line: Math.max(line, 1) }
  }
  if (source.unreadable !== undefined) {
    return failed([problem('YAML_INVALID', at(0), `It cannot be read: ${source.unreadable}.`)])
  }
  try {
    const document = parse(source, lines)
    const syntax = syntaxProblems(document, source.text, at)
    if (syntax.length > 0) return failed(syntax)
    const { entries, problems } = readTree(new TreeReader(document, at))
    return problems.length > 0 ? failed(problems) : { entries, problems }
  } catch (error) {
    // The parser recurses: a file of ten thousand brackets ends its stack.
    const why = reasonOf(error).split('\n')[0]
    return failed([problem('YAML_INVALID', at(0), `The file cannot be read as YAML: ${why}.`)])
  }
}

function parse(source: LayerSource, lineCounter: LineCounter): Document {
  return parseDocument(source.text, {
    lineCounter,
    prettyErrors: false,
    // 'silent' would also drop the error about a second document.
    logLevel: 'error',
    version: '1.2',
    uniqueKeys: true,
    resolveKnownTags: false,
    customTags: referenceTags(source.file),
  })
}

function referenceTags(file: string): ScalarTag[] {
  return [
    {
      tag: '!env',
      resolve(text, onError) {
        const reference = envReference(text)
        if (reference === undefined) onError('!env takes NAME or "NAME ?? default"')
        return reference ?? null
      },
    },
    {
      tag: '!path',
      resolve(text, onError) {
        if (text === '') onError('!path takes a path')
        return pathReference(file, text)
      },
    },
  ]
}

function syntaxProblems(
  document: Document,
  text: string,
  at: (offset: number) => Origin,
): Problem[] {
  // A warning is an unknown tag or directive: the value would pass as text that nobody meant.
  const problems = [...document.errors, ...document.warnings].map((e) =>
    problem('YAML_INVALID', at(e.pos[0]), `${explain(e.code, e.message)}.`, {
      hint: hintFor(e.code, text, e.pos[0]),
    }),
  )
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    problems.push(problem('YAML_INVALID', at(0), 'Only YAML 1.2 is read here.'))
  }
  // One mistake makes the parser complain of all that follows on the line.
  const firsts = new Map(problems.toReversed().map((found) => [found.line, found]))
  return [...firsts.values()].toReversed()
}

const HINTS: Record<string, string | undefined> = {
  MULTIPLE_DOCS: 'A layer is one document: remove the "---" and join the lists.',
  DUPLICATE_KEY: 'Remove one of the two.',
  BAD_SCALAR_START: 'Put the value in quotes.',
}

function hintFor(code: string, text: string, offset: number): string | undefined {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^\s*\t/.test(line) || code === 'TAB_AS_INDENT' ? 'Indent with spaces.' : HINTS[code]
}

function explain(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'The file holds several YAML documents'
  if (code !== 'TAG_RESOLVE_FAILED' || !message.startsWith('Unresolved tag')) return message
  const tag = message.replace('Unresolved tag: ', '').replace('tag:yaml.org,2002:', '!!')
  return `The tag ${tag} is not known here; the tags are !env and !path, each for one plain value`
}
