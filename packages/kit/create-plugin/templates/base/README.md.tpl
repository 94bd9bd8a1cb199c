# {{name}}

A {{kind}} for [Cordage](https://www.npmjs.com/package/cordage).

```sh
cordage plugin add {{name}}
```

`npm test` runs it in a real harness, `npm run build` makes what is published. To try a change from the
sources: `cordage --patch dev.patch.yml`.
