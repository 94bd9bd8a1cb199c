const MIN_SECRET = 4

/** `text` without `secrets`, also where they are URL- or JSON-encoded; under 4 characters none. */
export function redact(text: string, secrets: Iterable<string>): string {
  const forms = new Set<string>()
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET) continue
    forms.add(secret)
    forms.add(encodeURIComponent(secret.toWellFormed()))
    forms.add(JSON.stringify(secret).slice(1, -1))
  }
  // Longest first, so that a secret that contains another one goes whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length)
  return ordered.reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text)
}
