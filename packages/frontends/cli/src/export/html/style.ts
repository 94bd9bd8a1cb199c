import { createHash } from 'node:crypto'

/** All of the page's looks. Its hash is in the policy, so that no other style applies. */
export const style = `
:root { color-scheme: light dark; --page: #fbfaf8; --card: #fff; --ink: #21201c; --soft: #6f6c64;
  --line: #e5e2da; --accent: #1f5fae; --tint: #eef3fa; --code: #f4f2ee; --good: #24733c; --bad: #b3261e;
  --added: #e2f4e5; --removed: #fce8e6; --mono: ui-monospace, 'SF Mono', Menlo, Consolas,
  'DejaVu Sans Mono', monospace; --sans: system-ui, -apple-system, 'Segoe UI', 'Noto Sans',
  'DejaVu Sans', sans-serif }
@media (prefers-color-scheme: dark) { :root { --page: #17181a; --card: #1e2023; --ink: #e6e4df;
  --soft: #9b988f; --line: #33363a; --accent: #82b4f2; --tint: #212b38; --code: #25282c;
  --good: #74c48a; --bad: #f2958d; --added: #1c3524; --removed: #42231f } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.6 var(--sans);
  overflow-wrap: anywhere }
a { color: var(--accent); text-underline-offset: .15em }
code, pre { font-family: var(--mono); font-size: .86em; font-variant-ligatures: none }
code { background: var(--code); border-radius: .25em; padding: .1em .3em }
pre { background: var(--code); border-radius: .5rem; margin: .6rem 0; padding: .7rem .9rem;
  line-height: 1.5; max-height: 32rem; overflow: auto; white-space: pre; tab-size: 4;
  unicode-bidi: plaintext }
pre code { background: none; padding: 0; font-size: 1em; overflow-wrap: normal }
.diff span { display: inline-block; min-width: calc(100% + 1.8rem); margin: 0 -.9rem; padding: 0 .9rem }
.diff .added { background: var(--added) }
.diff .removed { background: var(--removed) }
.diff .place { color: var(--soft) }
.head { border-bottom: 1px solid var(--line); background: var(--card) }
.head > div { max-width: 76rem; margin: auto; padding: 2rem 1.5rem 1.4rem }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0 0 .4rem; letter-spacing: -.01em }
.about { color: var(--soft); font-size: .88rem; margin: 0 }
.about span + span::before { content: ' · ' }
.figures { display: flex; flex-wrap: wrap; gap: .5rem 2rem; margin: 1rem 0 0; padding: 0 }
.figures div { min-width: 4rem }
.figures dt { color: var(--soft); font-size: .75rem }
.figures dd { font-size: 1.15rem; font-weight: 600; margin: 0; font-variant-numeric: tabular-nums }
.layout { max-width: 76rem; margin: auto; padding: 1.5rem; display: grid; gap: 2.5rem;
  grid-template-columns: 15rem minmax(0, 1fr) }
nav { position: sticky; top: 1.2rem; align-self: start; max-height: calc(100vh - 2.4rem);
  overflow: auto; font-size: .86rem; line-height: 1.4 }
nav h2 { font-size: .75rem; color: var(--soft); font-weight: 600; margin: 0 0 .5rem }
nav ol { list-style: none; margin: 0; padding: 0 }
nav a { display: block; color: inherit; text-decoration: none; padding: .35rem .6rem;
  border-left: 2px solid var(--line) }
nav a:hover, nav a:focus-visible { border-color: var(--accent); background: var(--tint) }
nav small { display: block; color: var(--soft); font-variant-numeric: tabular-nums }
.turn { margin: 0 0 3rem }
.turn > h2, .child > h2 { font-size: .84rem; font-weight: 600; color: var(--soft); margin: 0 0 .8rem;
  display: flex; gap: .8rem; align-items: baseline }
.turn > h2 a { color: inherit; text-decoration: none }
.turn > h2 a:hover { color: var(--accent) }
.turn > h2 time { font-weight: 400 }
.said { background: var(--tint); border-radius: .7rem; padding: .8rem 1.1rem; margin: 0 0 1.1rem }
.said.other { background: none; border: 1px dashed var(--line) }
.who { font-size: .78rem; font-weight: 600; color: var(--soft); margin: 0 0 .15rem }
.plain { white-space: pre-wrap }
.answer { margin: 1.1rem 0 }
.rich > :first-child { margin-top: 0 }
.rich > :last-child { margin-bottom: 0 }
.rich p, .rich ul, .rich ol { margin: .6rem 0 }
.rich h3, .rich h4, .rich h5, .rich h6 { margin: 1.2rem 0 .4rem; line-height: 1.3 }
.rich h3 { font-size: 1.2rem } .rich h4 { font-size: 1.08rem } .rich h5, .rich h6 { font-size: 1rem }
.rich table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92em }
.rich th, .rich td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left }
.rich blockquote { margin: .6rem 0; padding: 0 1rem; border-left: 3px solid var(--line);
  color: var(--soft) }
.rich li:has(> input) { list-style: none; margin-left: -1.2rem }
.elsewhere { color: var(--soft) }
details > summary { cursor: pointer; list-style: none }
details > summary::-webkit-details-marker { display: none }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.fold { font-size: .92rem; margin: .6rem 0 }
.fold > summary { color: var(--soft); font-size: .84rem }
.fold > summary::before, .call > summary::before { content: '›'; display: inline-block; width: 1em;
  color: var(--soft) }
.fold[open] > summary::before, .call[open] > summary::before { transform: rotate(90deg) }
.fold > :not(summary) { border-left: 3px solid var(--line); padding-left: 1rem; margin: .5rem 0;
  color: var(--soft) }
.told:not([open]) { display: inline-block; margin: 0 1.2rem .8rem 0 }
.call { background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  margin: .45rem 0; padding: 0 .9rem; font-size: .92rem }
.call > summary { display: flex; gap: .6rem; align-items: baseline; padding: .4rem 0 }
.call > summary b { font-weight: 600 }
.call > summary code { background: none; padding: 0; color: var(--soft); flex: 1; min-width: 0;
  overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.call[open] > summary { border-bottom: 1px solid var(--line); margin-bottom: .6rem }
.took { color: var(--soft); font-size: .8rem; font-variant-numeric: tabular-nums; flex: none }
.done .took::after { content: ' ✓'; color: var(--good) }
.failed .took::after { content: ' ✗'; color: var(--bad) }
.open .took::after { content: ' ?'; color: var(--bad) }
.failed { border-left: 3px solid var(--bad) }
.call dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem .9rem;
  margin: .5rem 0 }
.call dt { color: var(--soft) } .call dd { margin: 0 } .call dd pre { margin: 0 0 .3rem }
.result { border-top: 1px dashed var(--line); margin-top: .6rem }
.note { color: var(--soft); font-size: .86rem; margin: .6rem 0 }
.trouble { color: var(--bad) }
.ending { color: var(--soft); font-size: .82rem; border-top: 1px solid var(--line);
  padding-top: .5rem; margin-top: 1.4rem; font-variant-numeric: tabular-nums }
.ending b { color: var(--good) } .ending .cut { color: var(--bad) }
img { max-width: 100%; max-height: 36rem; border-radius: .5rem; border: 1px solid var(--line);
  display: block; margin: .6rem 0; background: repeating-conic-gradient(#8882 0 25%, #0000 0 50%) 0 0 / 16px 16px }
.child { border-top: 3px double var(--line); padding-top: 1.5rem; margin-top: 3rem }
.child > h2 { font-size: 1.2rem; color: var(--ink) }
footer { color: var(--soft); font-size: .8rem; padding-bottom: 2rem }
@media (max-width: 60rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1.5rem; padding: 1rem }
  nav { position: static; max-height: 16rem; border-bottom: 1px solid var(--line);
  padding-bottom: 1rem } .head > div { padding: 1.4rem 1rem 1rem } }
@media print { nav { display: none } .layout { display: block } pre { max-height: none;
  white-space: pre-wrap } .call { break-inside: avoid } }
`

const hash = createHash('sha256').update(style).digest('base64')

/** Nothing is fetched, no script runs, no form is sent, and no frame may be around the page. */
export const policy = [
  `default-src 'none'`,
  `style-src 'sha256-${hash}'`,
  'img-src data:',
  `base-uri 'none'`,
  `form-action 'none'`,
].join('; ')
