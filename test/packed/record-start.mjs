// Loaded before a program: keeps what it has loaded and started when it first asks a server.
import fs, { writeFileSync } from 'node:fs'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const seen = { modules: [], native: [], workers: 0, watchers: 0 }

registerHooks({
  load(url, context, next) {
    seen.modules.push(url)
    return next(url, context)
  },
})
const { dlopen } = process
process.dlopen = (module, file, ...rest) => {
  seen.native.push(file)
  return dlopen.call(process, module, file, ...rest)
}
threads.Worker = class extends threads.Worker {
  constructor(...args) {
    super(...args)
    seen.workers += 1
  }
}
const { watch } = fs
fs.watch = (...args) => {
  seen.watchers += 1
  return watch(...args)
}
syncBuiltinESMExports()

const { fetch } = globalThis
globalThis.fetch = (...args) => {
  writeFileSync(process.env.START_RECORD, JSON.stringify(seen), { flag: 'wx' })
  return fetch(...args)
}
