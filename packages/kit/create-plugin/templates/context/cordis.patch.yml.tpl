# What the plugin adds: a row for every agent of the preset.
- preset: standard
  rows:
    - { id: {{row}}, name: '{{name}}' }
