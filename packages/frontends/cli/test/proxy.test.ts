import { describe, expect, it } from 'vitest'
import { proxyOf } from '../src/boot/proxy.ts'

describe('a proxy', () => {
  it('is that of the first variable which names one', () => {
    expect(proxyOf({})).toBeUndefined()
    expect(proxyOf({ HTTPS_PROXY: '', NO_PROXY: 'x' })).toBeUndefined()
    expect(proxyOf({ http_proxy: 'http://a', HTTPS_PROXY: 'http://b' })).toMatchObject({
      variable: 'HTTPS_PROXY',
    })
  })

  it('is used by a Node that can', () => {
    expect(proxyOf({ HTTP_PROXY: 'http://a' })).toEqual({ variable: 'HTTP_PROXY', used: true })
  })
})
