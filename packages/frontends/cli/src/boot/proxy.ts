import { bootError } from './errors.ts'

const VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy']

export interface ProxyUse {
  /** The variable that names a proxy. */
  readonly variable: string
  /** False where this Node has no way to use it, so that requests go past it. */
  readonly used: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Lets every request of this process go through the proxy that the environment names, as other
 * programs do; undefined where it names none. Throws `PROXY_INVALID`.
 */
export function useProxy(env: Env): ProxyUse | undefined {
  const found = proxyOf(env)
  // Node has done it itself.
  if (found?.used !== true || isNodesOwn(env)) return found
  try {
    setProxy()?.()
  } catch (error) {
    // Node's words repeat the address, in which a password may be.
    throw bootError('PROXY_INVALID', { variable: found.variable }, { cause: error })
  }
  return found
}

/** What `useProxy` comes to. */
export function proxyOf(env: Env): ProxyUse | undefined {
  const variable = VARIABLES.find((name) => (env[name] ?? '') !== '')
  if (variable === undefined) return undefined
  return { variable, used: isNodesOwn(env) || setProxy() !== undefined }
}

function isNodesOwn({ NODE_USE_ENV_PROXY }: Env): boolean {
  return NODE_USE_ENV_PROXY === '1' && process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
}

/** Newer than the types that we build with; asked for only where there is a proxy. */
function setProxy(): (() => unknown) | undefined {
  const { setGlobalProxyFromEnv } = process.getBuiltinModule('node:http') as {
    setGlobalProxyFromEnv?: () => unknown
  }
  return setGlobalProxyFromEnv
}
