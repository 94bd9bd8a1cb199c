import { boots } from './boots.ts'
import type { Broken } from './broken.ts'
import { operations } from './operations.ts'
import { starts } from './starts.ts'
import { yaml } from './yaml.ts'

export const corpus: readonly Broken[] = [...yaml, ...operations, ...starts, ...boots]
