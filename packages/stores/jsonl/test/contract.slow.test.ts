import { testContract } from './contract-on-disk.ts'

// Plain lines pass the same contract on a simulated disk in the quick check.
testContract('none')
