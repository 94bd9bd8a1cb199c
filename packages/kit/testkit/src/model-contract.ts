import { describe } from 'vitest'
import { answerCases, callCases } from './model-answer-cases.ts'
import { cancelCases } from './model-cancel-cases.ts'
import { absenceCases, statusCases } from './model-failure-cases.ts'
import { type ModelUnderTest, useModel } from './model-fixture.ts'
import { historyCases, nameCases } from './model-history-cases.ts'
import { oddityCases } from './model-oddities.ts'
import { environmentCases, requestCases } from './model-request-cases.ts'
import { secretCases } from './model-secret-cases.ts'
import { callShapeCases, redirectCases, shapeCases, usageShapeCases } from './model-shape-cases.ts'

/** What the loop relies on of every provider that is reached over HTTP. */
export function modelContract(name: string, subject: ModelUnderTest): void {
  describe(`${name} keeps the model contract`, () => {
    const fixture = useModel(subject)
    answerCases(fixture)
    callCases(fixture)
    absenceCases(fixture)
    oddityCases(fixture)
    callShapeCases(fixture)
    usageShapeCases(fixture)
    shapeCases(fixture)
    statusCases(fixture)
    secretCases(fixture)
    redirectCases(fixture)
    cancelCases(fixture)
    requestCases(fixture)
    historyCases(fixture)
    nameCases(fixture)
    environmentCases(fixture)
  })
}
