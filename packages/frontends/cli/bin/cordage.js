#!/usr/bin/env node
/* Plain old JavaScript: a Node that is too old has to be able to read this file and say so. */
'use strict'

import fs from 'node:fs'
import path from 'node:path'
import module from 'node:module'
import os from 'node:os'

const OLDEST = [22, 19]
const CONFIGURATION = 78

const self = fs.realpathSync(process.argv[1])
const folder = path.dirname(path.dirname(self))

function isTooOld(version) {
  const parts = version.split('.').map(Number)
  return parts[0] < OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] < OLDEST[1])
}

/* The Node that the project itself installed, in the nearest node_modules above. */
function ownNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let at = folder; ; at = path.dirname(at)) {
    const candidate = path.join(at, 'node_modules', 'node', 'bin', name)
    if (fs.existsSync(candidate)) return candidate
    if (path.dirname(at) === at) return undefined
  }
}

function restart(node) {
  import('node:child_process').then(function (processes) {
    return follow(processes.spawn, node)
  })
}

function follow(spawn, node) {
  const child = spawn(node, [self].concat(process.argv.slice(2)), {
    stdio: 'inherit',
    env: Object.assign({}, process.env, { CORDAGE_RESTARTED: '1' }),
  })
  /* The child gets a terminal's signals itself; those sent to this process go on to it. */
  const forward = function (signal) {
    process.on(signal, function () {
      child.kill(signal)
    })
  }
  ;['SIGINT', 'SIGTERM', 'SIGHUP'].forEach(forward)
  child.on('error', function (error) {
    refuse('The Node at ' + node + ' does not start: ' + error.message + '.')
  })
  child.on('exit', function (code, signal) {
    if (code === null) code = 128 + (os.constants.signals[signal] || 1)
    process.exit(code)
  })
}

function refuse(reason) {
  process.stderr.write('cordage: ' + reason + '\n')
  process.exit(CONFIGURATION)
}

/* What needs no program to be loaded: true when that was all. */
function answer(args) {
  if (args.length !== 1) return false
  if (args[0] === '--version' || args[0] === '-V') {
    const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
    process.stdout.write(manifest.version + '\n')
    return true
  }
  /* Packing keeps the text for the usual width; a checkout has none. */
  const help = path.join(folder, 'dist', 'help.txt')
  if ((args[0] !== '--help' && args[0] !== '-h') || process.stdout.columns < 80) return false
  if (!fs.existsSync(help)) return false
  process.stdout.write(fs.readFileSync(help))
  return true
}

/* Makes one level only: on some file systems, /proc among them, a recursive mkdir never returns. */
function isFolder(home) {
  try {
    fs.mkdirSync(home, { mode: 0o700 })
    return true
  } catch {
    /* It is there already, or whoever needs it will say what is wrong. */
  }
  return fs.existsSync(path.join(home, '.')) && fs.statSync(home).isDirectory()
}

function start() {
  const args = process.argv.slice(2)
  if (answer(args)) return
  const user = os.homedir() || os.userInfo().homedir
  const home = process.env.CORDAGE_HOME || path.join(user, '.cordage')
  /* Without a place to write it just compiles again each time. */
  if (isFolder(home)) module.enableCompileCache(path.join(home, 'cache'))
  const source = fs.existsSync(path.join(folder, 'src', 'main.ts'))
  const entry = source ? '../src/main.ts' : '../dist/main.js'
  import('node:v8')
    .then(function (v8) {
      /* A start makes much garbage once. Growing the nursery for it would keep 8 MB for good. */
      v8.setFlagsFromString('--semi-space-growth-factor=1')
      /* Optimising takes 5 MB, and is worth it for what runs longer than a start. */
      v8.setFlagsFromString('--no-opt')
      setTimeout(function () {
        v8.setFlagsFromString('--opt')
      }, 2000).unref()
      return import(entry)
    })
    .then(function (main) {
      return main.main(args)
    })
}

if (!isTooOld(process.versions.node)) {
  start()
} else {
  const node = process.env.CORDAGE_RESTARTED ? undefined : ownNode()
  if (node !== undefined) restart(node)
  else {
    refuse(
      'Node ' +
        process.versions.node +
        ' is too old; it takes ' +
        OLDEST.join('.') +
        ' or newer. ' +
        'Install one (https://nodejs.org) and try again.',
    )
  }
}
