import { spawn, spawnSync } from 'node:child_process'
import { delimiter, resolve, sep } from 'node:path'

const tools = resolve(import.meta.dirname, '../node_modules/.bin')

/** Runs a tool of the workspace, or npm, and ends this process when it fails. */
export function run(tool, args, cwd) {
  const { status, error } = spawnSync(tool, args, optionsFor(tool, cwd))
  endUnlessDone(status, error)
}

/** The same beside what this process does; ends it, too, when the tool fails. */
export async function runBeside(tool, args, cwd) {
  const { status, error } = await ended(spawn(tool, args, optionsFor(tool, cwd)))
  endUnlessDone(status, error)
}

/** Runs tools, each with its arguments, at the same time and to their ends; all of them count. */
export async function runTogether(...commands) {
  const failed = []
  const running = commands.map(async ([tool, ...args]) => {
    const { status, error } = await ended(spawn(tool, args, optionsFor(tool)))
    if (error) console.error(error.message)
    if (status !== 0) failed.push(tool)
  })
  await Promise.all(running)
  if (failed.length === 0) return
  // What it said may be far above, before the output of the others.
  console.error(`failed: ${failed.join(', ')}`)
  process.exit(1)
}

function ended(child) {
  return new Promise((done) => {
    child.once('error', (error) => done({ status: null, error }))
    child.once('exit', (status) => done({ status }))
  })
}

function endUnlessDone(status, error) {
  if (error) console.error(error.message)
  if (status !== 0) process.exit(status ?? 1)
}

function optionsFor(tool, cwd = process.cwd()) {
  const PATH = tool === 'npm' ? systemPath() : toolPath()
  const env = { ...process.env, PATH }
  return { cwd, env, stdio: 'inherit', shell: process.platform === 'win32' }
}

function toolPath() {
  return [tools, process.env.PATH].join(delimiter)
}

/**
 * Where npm finds the Node that it was installed with: beside that is its configuration for all
 * users, and with it the registry, proxy and certificates without which it waits for minutes.
 */
export function systemPath() {
  const folders = process.env.PATH.split(delimiter)
  return folders.filter((folder) => !folder.includes(`node_modules${sep}.bin`)).join(delimiter)
}
