# The same from the sources, for a run with --patch; not published.
- insert:
    - { id: {{row}}, name: ./src/index.ts }
