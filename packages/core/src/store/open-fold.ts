import {
  deepFreeze,
  SessionFold,
  type Fact,
  type FoldOptions,
  type FoldSnapshot,
} from '../session/index.ts'
import { storeError } from './errors.ts'
import type { SessionLog, Snapshot } from './store.ts'

/** The fold of a log that was opened: from its snapshot where that can be read, else from fact 0. */
export async function openFold(
  log: SessionLog,
  options: Omit<FoldOptions, 'snapshot'>,
): Promise<SessionFold> {
  const snapshot = readable(log.snapshot)
  const fold = new SessionFold({ ...options, snapshot })
  if (snapshot || !log.snapshot) {
    for (const fact of log.tail) addInPlace(log, fold, fact)
  } else {
    for await (const fact of log.read(0)) addInPlace(log, fold, fact)
  }
  return fold
}

function readable(snapshot: Snapshot | undefined): FoldSnapshot | undefined {
  const state = snapshot?.state as Partial<FoldSnapshot> | null | undefined
  return state?.format === 1 && state.nextSeq === snapshot?.seq
    ? (state as FoldSnapshot)
    : undefined
}

function addInPlace(log: SessionLog, fold: SessionFold, fact: Fact): void {
  if (fact.seq !== fold.nextSeq) {
    const reason = `fact ${fold.nextSeq} is missing before fact ${fact.seq}`
    throw storeError('STORE_DAMAGED', { id: log.header.id, reason })
  }
  fold.add(deepFreeze(fact))
}
