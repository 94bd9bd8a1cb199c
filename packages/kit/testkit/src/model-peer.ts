import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a peer received. */
export interface PeerRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: unknown
  /** Resolves when the connection of this request is gone. */
  readonly closed: Promise<void>
}

export type PeerReply = (response: ServerResponse, request: PeerRequest) => unknown

/** A server on this machine that stands for a provider and keeps what it was asked. */
export interface ModelPeer {
  readonly url: string
  readonly requests: PeerRequest[]
  /** Adds replies, used one after the other; the last one stays. */
  reply(...replies: PeerReply[]): void
  reset(): void
  close(): Promise<void>
}

/** Listens on 127.0.0.1, on a port that the system chooses. */
export async function startModelPeer(): Promise<ModelPeer> {
  const requests: PeerRequest[] = []
  const replies: PeerReply[] = []
  const server = createServer(async (incoming, response) => {
    const closed = new Promise<void>((resolve) => response.once('close', resolve))
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url: path = '', headers } = incoming
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const request = { method, path, headers, text, body, closed }
    requests.push(request)
    const reply = replies.length > 1 ? replies.shift() : replies[0]
    if (reply) await reply(response, request)
    else response.writeHead(404).end()
  })
  // A client on a busy machine may use a connection again just as its idle time is over.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    reply: (...more) => void replies.push(...more),
    reset: () => {
      requests.length = 0
      replies.length = 0
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export interface StreamReplyOptions {
  readonly newline?: '\n' | '\r\n'
  /** Written before the first event: a byte order mark, comments. */
  readonly prefix?: string
  /** Bytes of one write; whole events by default. */
  readonly pieceBytes?: number
  /** Milliseconds between events, as a model that writes takes them. */
  readonly pauseMs?: number
  /** What happens after the last event. Default `end`. */
  readonly after?: 'end' | 'hang' | 'destroy'
}

/** Sends server-sent events, each given with its lines joined by `\n`. */
export function streamReply(
  events: readonly string[],
  options: StreamReplyOptions = {},
): PeerReply {
  const { newline = '\n', prefix = '', pieceBytes, pauseMs, after = 'end' } = options
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const lines = events.map((event) => `${event}\n\n`.replaceAll('\n', newline))
    if (pauseMs !== undefined) {
      for (const line of lines.splice(0)) {
        response.write(line)
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
    const bytes = Buffer.from(prefix + lines.join(''))
    const size = pieceBytes ?? bytes.length
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size))
      if (pieceBytes !== undefined) await new Promise((resolve) => setImmediate(resolve))
    }
    if (after === 'end') response.end()
    // What was written must be on its way before the connection is torn down.
    if (after === 'destroy') setTimeout(() => response.destroy(), 30)
  }
}

export function plainReply(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): PeerReply {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const type = typeof body === 'string' ? 'text/html' : 'application/json'
  return (response) => response.writeHead(status, { 'content-type': type, ...headers }).end(text)
}

/** Sends bytes as they are, with the headers of an event stream unless others are given. */
export function rawReply(
  pieces: readonly (string | Uint8Array)[],
  options: { headers?: Record<string, string>; after?: 'end' | 'destroy' } = {},
): PeerReply {
  const headers = { 'content-type': 'text/event-stream', ...options.headers }
  return async (response) => {
    response.writeHead(200, headers).flushHeaders()
    for (const piece of pieces) await new Promise((sent) => response.write(piece, sent))
    if (options.after === 'destroy') response.destroy()
    else response.end()
  }
}
