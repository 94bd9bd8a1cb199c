{
  "name": "{{name}}",
  "version": "0.1.0",
  "description": "A {{kind}} for Cordage",
  "license": "MIT",
  "type": "module",
  "keywords": ["cordage-plugin"],
  "exports": {
    ".": {
      "types": "./dist/index.d.ts",
      "default": "./dist/index.js"
    },
    "./package.json": "./package.json"
  },
  "files": ["dist", "cordis.patch.yml"],
  "scripts": {
    "test": "vitest run",
    "build": "tsc --project tsconfig.build.json",
    "prepack": "npm run build"
  },
  "peerDependencies": {
    "@cordage/core": ">={{version}}",
    "zod": "^4.0.0"
  },
  "devDependencies": {
    "@cordage/core": "^{{version}}",
    "@cordage/testkit": "^{{version}}",
    "@types/node": "^24.0.0",
    "typescript": "^7.0.0",
    "vitest": "^5.0.0",
    "zod": "^4.0.0"
  },
  "cordage": {
    "api": "^1.0.0",
    "bundle": "./cordis.patch.yml",
    "uses": []
  }
}
