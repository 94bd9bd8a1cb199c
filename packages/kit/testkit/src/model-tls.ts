import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** A key that nobody uses but the server below, and a certificate that it signed itself. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKaQbi3TAPtuGXh1q
Lf+sY1C2slE9VoIUltH9M3kSHAWhRANCAARfFNea5sVFCO7xM2C9e1mC0VP/b3M1
kRQ2c8PyYOGkdmxskeoJ9OGGza81TlTExSnnVpUlfCcBm8GBtOgIHygE
-----END PRIVATE KEY-----`

const cert = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUTFlf69Qz69im+il5jABjG12FSkcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTIwMTAzMDYyMVoYDzIxMjYxMTA3
MDMwNjIxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARfFNea5sVFCO7xM2C9e1mC0VP/b3M1kRQ2c8PyYOGkdmxskeoJ9OGG
za81TlTExSnnVpUlfCcBm8GBtOgIHygEo28wbTAdBgNVHQ4EFgQUbafyHW0lhkBT
5cubDkkhl/1F9MowHwYDVR0jBBgwFoAUbafyHW0lhkBT5cubDkkhl/1F9MowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDSAAwRQIgO8WczVNixySe2sog7d8OB5Z8Cf61Xbw+sAqYLVH+M/kCIQDK
FtE1O5YixhzEylCzzLXatGCoM1N3h8DF7ts5pJm/lA==
-----END CERTIFICATE-----`

/** A server over TLS whose certificate nobody trusts. */
export async function startUntrustedPeer(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ key, cert }, (_, response) => response.end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
