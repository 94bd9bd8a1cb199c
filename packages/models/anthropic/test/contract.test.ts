import { modelContract } from '@cordage/testkit'
import { config } from '../src/config.ts'
import { createProvider } from '../src/provider.ts'

modelContract('anthropic-messages', {
  api: 'anthropic-messages',
  model: 'thinker',
  replays: true,
  environment: [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
    'ANTHROPIC_CONFIG_DIR',
    'ANTHROPIC_CUSTOM_HEADERS',
    'ANTHROPIC_ENVIRONMENT_ID',
    'ANTHROPIC_ENVIRONMENT_KEY',
    'ANTHROPIC_FEDERATION_RULE_ID',
    'ANTHROPIC_IDENTITY_TOKEN',
    'ANTHROPIC_IDENTITY_TOKEN_FILE',
    'ANTHROPIC_LOG',
    'ANTHROPIC_OPEN_TELEMETRY',
    'ANTHROPIC_OPEN_TELEMETRY_PROPAGATION',
    'ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE',
    'ANTHROPIC_ORGANIZATION_ID',
    'ANTHROPIC_PROFILE',
    'ANTHROPIC_SCOPE',
    'ANTHROPIC_SERVICE_ACCOUNT_ID',
    'ANTHROPIC_SESSION_ID',
    'ANTHROPIC_WEBHOOK_SIGNING_KEY',
    'ANTHROPIC_WORKSPACE_ID',
    'ANTHROPIC_WORK_ID',
    'ANTHROPIC_WORK_SECRET',
  ],
  provider: (url) => {
    const models = [
      { id: 'thinker', input: ['text', 'image'], reasoningEfforts: { off: null, high: 'high' } },
      { id: 'text-only' },
    ]
    const route = { displayName: 'Peer', baseURL: url, apiKeyEnv: 'PEER_KEY', models }
    const { peer } = config.parse({ providers: { peer: route } }).providers
    return createProvider('peer', peer!, {
      credentials: { has: () => true, reveal: () => 'secret-key-of-test' },
      variable: () => undefined,
    })
  },
})
