import { testContract } from './contract-on-disk.ts'

testContract('zstd')
