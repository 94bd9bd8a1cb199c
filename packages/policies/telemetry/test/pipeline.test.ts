import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mount, type Context } from '@cordage/core/kernel'
import { credentialError } from '@cordage/core/credential'
import { afterEach, describe, expect, it } from 'vitest'
import { bench, say } from '../../../core/test/loop/boot.ts'
import telemetry from '../src/index.ts'
import { openPipeline, type PipelineOptions } from '../src/pipeline.ts'
import { startReceiver, type Answer } from '../../../../test/fixture/otlp-receiver.ts'

const open: AsyncDisposable[] = []
const patient = { timeout: 15_000 }
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]()
})

async function receive(answer?: Answer) {
  const receiver = await startReceiver(answer)
  open.push(receiver)
  return receiver
}

/** A pipeline and the warnings it gave. */
function pipelineTo(endpoint: string, options: Partial<PipelineOptions> = {}) {
  const warnings: string[] = []
  const pipeline = openPipeline({
    endpoint,
    headers: () => '',
    serviceName: '织',
    version: '1.2.3',
    intervalMs: 60_000,
    flushMs: 5_000,
    env: {},
    warn: (reason) => warnings.push(reason),
    ...options,
  })
  const spans = (count: number) => {
    for (let i = 0; i < count; i += 1) pipeline.tracer.startSpan('one').end()
  }
  return { ...pipeline, warnings, spans }
}

const isFull: Answer = (response) => void response.writeHead(400).end('the words of a server')

describe('what is sent', () => {
  it('says who sends it, compressed, with the headers of the credential', async () => {
    const receiver = await receive()
    const headers = () => 'authorization=Bearer%20abc,x-team=a'
    const { spans, close, warnings } = pipelineTo(`${receiver.url}/base/`, { headers })
    spans(1)
    await close()
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/base/v1/traces'])
    expect(receiver.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer abc',
      'x-team': 'a',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    })
    expect(receiver.resources).toEqual([
      {
        'service.name': '织',
        'service.version': '1.2.3',
        'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ])
    expect(warnings).toEqual([])
  })

  it('is what the settings say, whatever the environment tells other exporters', async () => {
    const before = { ...process.env }
    const elsewhere = await receive()
    const others = {
      OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere.url,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: elsewhere.url,
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: elsewhere.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-other=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-other=1',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere',
      OTEL_SDK_DISABLED: 'true',
      OTEL_TRACES_SAMPLER: 'always_off',
      OTEL_RESOURCE_ATTRIBUTES: 'user.name=ada',
      OTEL_SERVICE_NAME: 'other',
      OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT: '0',
      OTEL_BSP_MAX_QUEUE_SIZE: '1',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1',
      OTEL_METRIC_EXPORT_INTERVAL: '1',
    }
    Object.assign(process.env, others)
    try {
      const receiver = await receive()
      const { tracer, meter, close } = pipelineTo(receiver.url)
      for (const name of ['a', 'b']) tracer.startSpan(name, { attributes: { name } }).end()
      meter.createHistogram('m').record(1)
      await close()
      expect(elsewhere.requests).toEqual([])
      expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual([
        '/v1/metrics',
        '/v1/traces',
      ])
      expect(receiver.requests[0]?.headers).not.toHaveProperty('x-other')
      expect(receiver.requests[0]?.headers['content-encoding']).toBe('gzip')
      expect(receiver.spans.map(({ attributes }) => attributes)).toEqual([
        { name: 'a' },
        { name: 'b' },
      ])
      expect(receiver.resources[0]?.['service.name']).toBe('织')
      expect(receiver.resources[0]).not.toHaveProperty('user.name')
    } finally {
      for (const name of Object.keys(others)) delete process.env[name]
      Object.assign(process.env, before)
    }
  })

  it('is bounded while the receiver takes nothing', async () => {
    const held: (() => void)[] = []
    const receiver = await receive((response) => {
      held.push(() => response.end())
    })
    const { spans, close } = pipelineTo(receiver.url, { flushMs: 60_000 })
    spans(20_000)
    await expect.poll(() => held.length, patient).toBeGreaterThan(0)
    spans(20_000)
    const closed = close()
    const letGo = setInterval(() => held.splice(0).forEach((go) => go()), 10)
    await closed
    clearInterval(letGo)
    expect(receiver.spans.length).toBeGreaterThan(512)
    expect(receiver.spans.length).toBeLessThan(5_000)
  })
})

describe('a receiver that', () => {
  it('refuses is warned of once, without its words', async () => {
    const receiver = await receive(isFull)
    const { spans, close, warnings } = pipelineTo(receiver.url, { intervalMs: 100 })
    spans(1)
    await expect.poll(() => receiver.requests.length, patient).toBe(1)
    spans(1)
    await close()
    expect(receiver.requests).toHaveLength(2)
    expect(warnings).toEqual(['status 400'])
  })

  it('never answers holds an end for no longer than the flush takes', async () => {
    const receiver = await receive(() => {})
    const { spans, close, warnings } = pipelineTo(receiver.url, { flushMs: 50 })
    spans(1)
    await close()
    expect(warnings).toEqual(['What was left to send did not get there within 50 ms and is lost.'])
  })

  it('accepts connections and says nothing is cut at the end', async () => {
    let begun = 0
    let cut = 0
    const server = createServer((socket) => {
      begun += 1
      socket.on('error', () => {})
      socket.on('close', () => (cut += 1))
      socket.resume()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const timing = { intervalMs: 100, flushMs: 100 }
    const { spans, close } = pipelineTo(`http://127.0.0.1:${port}`, timing)
    spans(1)
    await expect.poll(() => begun, patient).toBe(1)
    await close()
    await expect.poll(() => cut, patient).toBe(1)
    // Nothing tries again after the end.
    await new Promise((resolve) => server.close(resolve))
  })

  it('is not there is warned of once', async () => {
    const gone = await startReceiver()
    await gone[Symbol.asyncDispose]()
    const { spans, close, warnings } = pipelineTo(gone.url, { flushMs: 100 })
    spans(1)
    await close()
    expect(warnings).toHaveLength(1)
  })

  it.each([
    ['a web page', (response) => void response.end('<html>'.repeat(9))],
    ['a redirect', (response) => void response.writeHead(302, { location: '/x' }).end()],
    ['an end in the middle', (response) => void response.destroy()],
  ] satisfies [string, Answer][])('answers with %s hurts nobody', async (_, answer) => {
    const receiver = await receive(answer)
    const { spans, close } = pipelineTo(receiver.url, { intervalMs: 100, flushMs: 100 })
    spans(1)
    await expect.poll(() => receiver.requests.length, patient).toBeGreaterThan(0)
    await close()
    expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/v1/traces']))
  })

  it('needs a credential that is missing is warned of, and the turn goes on', async () => {
    const receiver = await receive()
    const headers = () => {
      throw credentialError('CREDENTIAL_MISSING', { name: 'OTLP_HEADERS' })
    }
    const { spans, close, warnings } = pipelineTo(receiver.url, { headers })
    spans(1)
    await close()
    expect(receiver.requests).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('There is no value for OTLP_HEADERS')])
  })
})

describe('policy-telemetry', () => {
  const settings = (endpoint: string) => ({ plugin: telemetry, config: { endpoint, flushMs: 50 } })

  it.each([
    ['refuses', isFull],
    ['never answers', () => {}],
  ] satisfies [string, Answer][])(
    'lets a turn end as it would where the receiver %s',
    async (_, answer) => {
      const receiver = await receive(answer)
      const { agent, close, logged } = await bench([say('done')], {
        rows: [settings(receiver.url)],
      })
      await agent.send('go', { wake: false })
      expect(await agent.wake()).toMatchObject({ reason: 'completed' })
      await close()
      expect(logged).toEqual([])
    },
  )

  it.each(['not an address', 'ftp://host', 'http://user:pass@host/', undefined])(
    'is not loaded with the endpoint %s',
    async (endpoint) => {
      const made = await bench([])
      const row = mount(made.root as Context, {
        id: 'policy-telemetry',
        plugin: telemetry,
        config: { endpoint },
        timeoutMs: 2_000,
      })
      expect(await row.settled()).toMatchObject({ state: 'failed' })
      await row.dispose()
      await made.close()
    },
  )
})
