// In a process of its own: answers each protocol with a stream of so many deltas, as fast as it is read.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { framesOf } from '../../packages/kit/testkit/src/model-frames.ts'

const PIECE_BYTES = 16 * 1024
const deltas = Number(process.argv[2])

const answers = {
  '/chat/completions': answer('openai-completions', 'stop', 0),
  '/responses': answer('openai-responses', 'completed', 0),
  // The first frame of a text opens its block.
  '/messages': answer('anthropic-messages', 'end_turn', 1),
}

function answer(api: Parameters<typeof framesOf>[0], word: string, opening: number): Buffer {
  const { begin, text, end } = framesOf(api)
  const [delta = ''] = text(' word').slice(opening)
  const frames = [...begin, ...text(' word').slice(0, opening), ...Array(deltas).fill(delta)]
  return Buffer.from([...frames, ...end(word)].map((frame) => `${frame}\n\n`).join(''))
}

const server = createServer((request, response) => {
  const found = Object.entries(answers).find(([path]) => request.url?.endsWith(path))
  request.resume()
  response.writeHead(found ? 200 : 404, { 'content-type': 'text/event-stream' })
  Readable.from(found ? piecesOf(found[1]) : []).pipe(response)
})

function* piecesOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

server.listen(0, '127.0.0.1', () => {
  console.log((server.address() as AddressInfo).port)
})
// Whoever started it has ended.
process.stdin.on('end', () => process.exit()).resume()
