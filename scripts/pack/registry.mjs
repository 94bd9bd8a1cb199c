// node scripts/pack/registry.mjs <upstream> <name>...: stands for a registry that lacks these names.
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'

/**
 * A registry on this machine that takes what is published under one of `names`, each after those of
 * them that it needs, and sends whoever asks for anything else to `upstream`. Gives its address.
 */
export async function startRegistry(upstream, names) {
  const documents = new Map()
  const tarballs = new Map()
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname.slice(1))
    const answer = (status, body) => {
      response.writeHead(status)
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body))
    }
    if (request.method === 'PUT') {
      const { _attachments: files, ...document } = JSON.parse(await textOf(request))
      const missing = neededBy(document).find(
        (name) => names.includes(name) && !documents.has(name),
      )
      if (missing) return answer(409, { error: `${path} needs ${missing}, which is not there yet` })
      for (const [file, { data }] of Object.entries(files)) {
        tarballs.set(`${path}/-/${file}`, Buffer.from(data, 'base64'))
      }
      documents.set(path, document)
      return answer(201, { ok: true })
    }
    if (tarballs.has(path)) return answer(200, tarballs.get(path))
    if (documents.has(path)) return answer(200, documents.get(path))
    if (names.includes(path)) return answer(404, { error: 'not found' })
    response.writeHead(302, { location: new URL(request.url.slice(1), upstream).href })
    response.end()
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${server.address().port}/`
}

async function textOf(request) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

function neededBy({ versions }) {
  return Object.values(versions).flatMap(({ dependencies, peerDependencies }) => {
    return Object.keys({ ...dependencies, ...peerDependencies })
  })
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [upstream, ...names] = process.argv.slice(2)
  console.log(await startRegistry(upstream, names))
}
