/**
 * Why `value` is surely not the bare key that somebody meant to give. It is refused instead of
 * repaired: what is sent is exactly what was given. The reason never repeats the value.
 */
export function keyFault(value: string): string | undefined {
  if (value === '') return 'the value is empty'
  if (/^export\s/.test(value)) return 'it begins with "export"; give the value alone'
  if (/^[A-Za-z_][A-Za-z0-9_]*=(?!=*$)/.test(value)) {
    return 'it begins with "NAME="; give what stands behind it'
  }
  if (/^(bearer|basic|authorization:|x-api-key:)\s/i.test(value)) {
    return 'it begins like a header ("Bearer "); give the key alone'
  }
  if (/^["'`“”‘’]|["'`“”‘’]$/.test(value)) return 'it is in quotes; give it without them'
  if (/[\r\n]/.test(value)) return 'it has several lines'
  if (/\s/.test(value)) return 'there is white space in it'
  // A header takes nothing else, and what cannot be seen was not meant.
  if (!/^[\x21-\x7e]+$/.test(value)) return 'it has characters that no key has'
  if (/^https?:\/\//i.test(value)) return 'it is an address, not a key'
  return undefined
}
