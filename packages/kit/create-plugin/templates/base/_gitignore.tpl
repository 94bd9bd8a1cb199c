node_modules/
dist/
*.tgz
