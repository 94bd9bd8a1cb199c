import { isHarnessError } from '@cordage/core/error'
import { OTLPExporterError } from '@opentelemetry/otlp-exporter-base'

/** Why an export failed, with nothing of what a server sent. */
export function failureText(error: unknown): string {
  if (isHarnessError(error)) return error.message
  if (error instanceof OTLPExporterError && error.code !== undefined) return `status ${error.code}`
  if (!(error instanceof Error)) return 'no answer'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.message
}
