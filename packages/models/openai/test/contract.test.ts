import { modelContract, type WireApi } from '@cordage/testkit'
import { config } from '../src/config.ts'
import { createProvider } from '../src/provider.ts'

const environment = [
  'OPENAI_ADMIN_KEY',
  'OPENAI_API_KEY',
  'OPENAI_API_VERSION',
  'OPENAI_BASE_URL',
  'OPENAI_CUSTOM_HEADERS',
  'OPENAI_LOG',
  'OPENAI_ORG_ID',
  'OPENAI_PROJECT_ID',
  'OPENAI_WEBHOOK_SECRET',
  'AZURE_OPENAI_API_KEY',
  'AWS_BEARER_TOKEN_BEDROCK',
  'AWS_BEDROCK_BASE_URL',
  'AWS_DEFAULT_REGION',
  'AWS_REGION',
]

const models = [
  { id: 'thinker', input: ['text', 'image'], reasoningEfforts: { off: null, high: 'high' } },
  { id: 'text-only' },
]

function contract(api: Exclude<WireApi, 'anthropic-messages'>) {
  modelContract(api, {
    api,
    model: 'thinker',
    replays: api === 'openai-responses',
    environment,
    provider: (url) => {
      const route = {
        displayName: 'Peer',
        api,
        baseURL: `${url}/v1`,
        apiKeyEnv: 'PEER_KEY',
        models,
      }
      const { peer } = config.parse({ providers: { peer: route } }).providers
      return createProvider('peer', peer!, {
        credentials: { has: () => true, reveal: () => 'secret-key-of-test' },
        variable: () => undefined,
      })
    },
  })
}

contract('openai-completions')
contract('openai-responses')
