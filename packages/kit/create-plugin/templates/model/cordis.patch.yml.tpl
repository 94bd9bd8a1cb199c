# What the plugin adds: a row for everybody.
- insert:
    - { id: {{row}}, name: '{{name}}' }
