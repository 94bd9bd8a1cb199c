# The same from the sources, for a run with --patch; not published.
- preset: standard
  rows:
    - { id: {{row}}, name: ./src/index.ts }
