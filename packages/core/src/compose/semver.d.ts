declare module 'semver/functions/satisfies.js' {
  export default function satisfies(version: string, range: string): boolean
}

declare module 'semver/ranges/valid.js' {
  export default function validRange(range: string): string | null
}
