// Chooses the view. A view is a function (element, path, parameters) that fills the element and returns a function to
// call when the view is left, or null.
import {h, podLink} from './dom.js';
import {nodes, node} from './nodes.js';
import {pending, pod} from './pods.js';
import {preemptions, config, search, tryOut} from './more.js';
import {feed} from './feed.js';

const views = {nodes, node, pending, pod, preemptions, config, search, try: tryOut};
const main = document.getElementById('main');
let leave = null, shown = 0;

function noSuchView(place, name, rest) {
  place.append(h('h1', {}, 'There is no such view'), h('p', {role: 'alert'}, `This page has no view “${[name, ...rest].join('/')}”.`));
  // The address of the API.
  if (name === 'pods' && rest.length === 2) place.append(h('p', {}, 'Do you mean the pod ', podLink(rest.join('/')), '?'));
  place.append(h('p', {}, 'There are ', Object.entries({nodes: 'Nodes', pending: 'Pending pods', preemptions: 'Preemptions', try: 'Try out', config: 'Configuration'})
    .map(([view, title], i) => [i ? ', ' : '', h('a', {href: `#/${view}`}, title)]), '.'));
}

async function show() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/').map(decodeURIComponent);
  const view = name === '' ? 'nodes' : name, mine = ++shown;
  const known = Object.hasOwn(views, view);
  if (leave) leave();
  leave = null;
  for (const a of document.querySelectorAll('#tabs a')) {
    if (a.getAttribute('href') === `#/${view}`) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  const place = h('div');
  main.replaceChildren(place);
  document.body.dataset.view = '';
  let undo = null;
  try {
    if (known) undo = await views[view](place, rest, new URLSearchParams(query));
    else noSuchView(place, name, rest);
  } catch (e) {
    place.append(h('p', {role: 'alert'}, e instanceof TypeError ? 'The scheduler does not answer.' : String(e.message || e)));
  }
  if (mine !== shown) {
    if (undo) undo();
    return;
  }
  leave = undo;
  document.body.dataset.view = view;
  const heading = main.querySelector('h1');
  document.title = `${heading ? heading.textContent : 'Scheduler'} - Scheduler`;
}

addEventListener('hashchange', () => {
  if (location.hash === '#main') return;
  show();
  main.focus();
});
document.getElementById('search').addEventListener('submit', e => {
  e.preventDefault();
  const q = document.getElementById('query').value.trim();
  if (q) location.hash = `#/search?q=${encodeURIComponent(q)}`;
});
feed.open();
show();
