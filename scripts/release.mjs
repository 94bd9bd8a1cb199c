// node scripts/release.mjs prepare <version> | rehearse | publish; docs/guide/release.md explains.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readTarballs, tarballs } from './pack/install.mjs'
import { readJson, readPackages, root } from './pack/packages.mjs'
import { rehearse } from './pack/rehearse.mjs'
import { run, systemPath } from './run.mjs'

const ours = ['--access', 'public', '--loglevel=error']
const changelog = join(root, 'CHANGELOG.md')

/** Gives every package the version and the changelog its date; nothing is committed. */
function prepare(version) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) refuse(`"${version}" is no version`)
  if (git('tag', '--list', `v${version}`) !== '') refuse(`there is a tag v${version} already`)
  if (git('status', '--porcelain') !== '') refuse('there are changes that are not committed')
  const text = readFileSync(changelog, 'utf8')
  const heading = `## ${version} (unreleased)`
  const notes = text.split(`${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  if (!/^- /m.test(notes)) refuse(`CHANGELOG.md has nothing under "${heading}"`)
  const today = new Date().toISOString().slice(0, 10)
  writeFileSync(changelog, text.replace(heading, `## ${version} (${today})`))
  const folders = ['', ...readPackages().map(({ folder }) => folder)]
  for (const folder of folders) setVersion(join(root, folder, 'package.json'), version)
  console.log(`${folders.length} manifests say ${version}. Now: npm test, commit, and publish.`)
}

/** Keeps the file as it is, but for the version. */
function setVersion(file, version) {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(/^(\s*"version": )"[^"]+"/m, `$1"${version}"`))
}

/** Packs and hands each tarball to npm, every package after those that it needs. */
function publish(flags) {
  const { version } = readJson(join(root, 'package.json'))
  const apart = readPackages().filter(({ manifest }) => manifest.version !== version)
  if (apart.length > 0) refuse(`not ${version}: ${apart.map(({ folder }) => folder).join(', ')}`)
  run(process.execPath, [join(root, 'scripts/pack.mjs')])
  for (const [name, { file }] of Object.entries(readTarballs())) {
    const again = flags.length === 0 && isPublished(name, version)
    if (again) console.log(`${name} ${version} is there already`)
    else run('npm', ['publish', join(tarballs, file), ...ours, ...flags])
  }
  return version
}

/** A publication that broke off goes on with what is missing. */
function isPublished(name, version) {
  const env = { ...process.env, PATH: systemPath() }
  const options = { env, encoding: 'utf8' }
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], options)
  return stdout.trim() === version
}

function publishForReal() {
  if (git('status', '--porcelain') !== '') refuse('there are changes that are not committed')
  const { version } = readJson(join(root, 'package.json'))
  const dated = new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-`, 'm')
  if (!dated.test(readFileSync(changelog, 'utf8')))
    refuse(`CHANGELOG.md has no date for ${version}`)
  publish([])
  git('tag', '--annotate', `v${version}`, '--message', `Cordage ${version}`)
  console.log(`Published and tagged. Now: git push --follow-tags`)
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) refuse(`git ${args[0]} failed: ${stderr.trim()}`)
  return stdout.trim()
}

function refuse(reason) {
  console.error(`No release: ${reason}.`)
  process.exit(1)
}

const [step, version] = process.argv.slice(2)
if (step === 'prepare') prepare(version)
else if (step === 'rehearse') await rehearse(publish)
else if (step === 'publish') publishForReal()
else refuse('say prepare <version>, rehearse or publish')
