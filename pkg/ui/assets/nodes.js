// The view of all nodes: map, table, numbers, and the last hour.
import {h, get, number, cores, gib, percent, micros, clock, counted, age, explained, numbers, Table, table, podLink, nodeLink} from './dom.js';
import {NodeMap, measures, colourOf, troubles, shareOf, NAME, GROUP, OFFERED, USED} from './map.js';
import {feed} from './feed.js';

function amount(resource, value) {
  return resource === 'cpu' ? `${cores(value)} cores` : resource === 'memory' ? `${gib(value)} GiB` : number(value);
}

function describe(node, resources) {
  const parts = resources.map((name, i) => node[OFFERED][i] > 0 || i < 3
    ? h('li', {}, `${name}: ${amount(name, node[USED][i])} of ${amount(name, node[OFFERED][i])} requested (${percent(shareOf(node, i))})`) : null);
  const bad = troubles(node);
  return [h('strong', {}, nodeLink(node[NAME])), bad.length ? ` is ${bad.join(', ')}` : '', h('ul', {class: 'inline'}, parts)];
}

// Two lines over the last hour: time goes to the right, pods bound a second have the axis on the left, pending pods the
// one on the right.
function plot(rates, seconds) {
  const NS = 'http://www.w3.org/2000/svg', LEFT = 48, RIGHT = 672, TOP = 24, BOTTOM = 150;
  const make = (tag, attributes, text) => {
    const e = document.createElementNS(NS, tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const svg = make('svg', {class: 'plot', viewBox: '0 0 720 180', role: 'img',
    'aria-label': 'Pods bound a second and pods pending over the last hour; the numbers at the end are below.'});
  const round = top => [1, 2, 5, 10].map(f => f * 10 ** Math.floor(Math.log10(top))).find(x => x >= top - 1e-9);
  const from = rates[0][0], to = Math.max(rates[rates.length - 1][0], from + 1);
  const x = time => LEFT + (time - from) / (to - from) * (RIGHT - LEFT);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = from + share * (to - from), anchor = share === 0 ? 'start' : share === 1 ? 'end' : 'middle';
    svg.append(make('text', {x: x(at), y: BOTTOM + 18, 'text-anchor': anchor}, clock(at)));
  }
  for (const [index, name, scale, side, title] of [[1, 'bound', 1 / seconds, LEFT - 6, 'bound a second'], [3, 'pending', 1, RIGHT + 6, 'pending']]) {
    const top = Math.max(...rates.map(r => r[index] * scale)), most = round(top > 0 ? top : 1), left = index === 1;
    const y = value => BOTTOM - value / most * (BOTTOM - TOP);
    for (const share of [0, 0.5, 1]) {
      if (left) svg.append(make('line', {x1: LEFT, x2: RIGHT, y1: y(share * most), y2: y(share * most)}));
      svg.append(make('text', {x: side, y: y(share * most) + 4, 'text-anchor': left ? 'end' : 'start'}, Number((share * most).toPrecision(3)).toLocaleString('en')));
    }
    svg.append(make('text', {x: left ? 4 : 716, y: 12, 'text-anchor': left ? 'start' : 'end'}, title));
    svg.append(make('polyline', {class: name, points: rates.map(r => `${x(r[0]).toFixed(1)},${y(r[index] * scale).toFixed(1)}`).join(' ')}));
  }
  const last = rates[rates.length - 1], perSecond = n => Number((n / seconds).toFixed(1)).toLocaleString('en');
  const most = index => Math.max(0, ...rates.map(r => r[index]));
  return h('figure', {}, svg, h('figcaption', {},
    h('span', {class: 'key bound'}, `pods bound (left): ${perSecond(last[1])} a second now, at most ${perSecond(most(1))}`), ' ',
    h('span', {class: 'key pending'}, `pods pending (right): ${number(last[3])} now, at most ${number(most(3))}`),
    ` (${clock(rates[0][0])} to ${clock(last[0])})`));
}

function showNumbers(s) {
  return numbers([['Nodes', number(s.nodes)], ['Pods with a node', number(s.pods)], ['Pods pending', number(s.pending)],
    ['Bound since start', number(s.attempts.bound)],
    ['Half of decisions took at most', s.latency.algorithm.count ? micros(s.latency.algorithm.p50Micros) : 'none yet'],
    ['99 of 100 took at most', s.latency.algorithm.count ? micros(s.latency.algorithm.p99Micros) : 'none yet']]);
}

export async function nodes(place, [wanted]) {
  const selected = h('div', {class: 'about', 'aria-live': 'polite'}, 'Point at a cell, or move through the map with the arrow keys.');
  const canvas = h('canvas', {tabindex: '0', role: 'application',
    'aria-label': 'Map of the nodes. Arrow keys move from node to node; what is selected is said above. The button below shows a table.'});
  const top = h('div'), hour = h('div'), tablePlace = h('div');
  const colour = h('select', {id: 'colour'}), group = h('select', {id: 'group'});
  const legend = h('canvas', {width: 120, height: 12, 'aria-hidden': 'true'}), c = legend.getContext('2d');
  for (let i = 0; i < 120; ++i) { c.fillStyle = colourOf(i / 119); c.fillRect(i, 0, 1, 12); }
  const asTable = h('button', {type: 'button', id: 'as-table', 'aria-expanded': 'false'}, 'Show as a table');
  place.append(h('h1', {}, 'Nodes'),
    explained('Each cell is a node, a machine that runs pods. Its colour says how much of a resource the pods on it have requested: ',
      'dark is empty, bright is full. The scheduler puts a new pod where it fits, and asks a number of rules which of those nodes is best. ',
      'A cross marks nodes that are cordoned, not ready or short of memory or disk space.'),
    top, h('div', {class: 'controls'}, h('span', {}, h('label', {for: 'colour'}, 'Colour by '), colour),
      h('span', {}, h('label', {for: 'group'}, 'Group by '), group),
      h('span', {class: 'legend'}, '0 % ', legend, ' 100 %, ', h('span', {class: 'cross', 'aria-hidden': 'true'}, '✕'), ' in trouble')),
    selected, h('div', {class: 'map'}, canvas), h('p', {}, asTable), tablePlace, h('h2', {}, 'The last hour'), hour);

  let resources = [], choices = [], asked = wanted;
  const map = new NodeMap(canvas, node => selected.replaceChildren(...describe(node, resources)));
  const all = new Table('All nodes', [
    {title: 'Node', value: n => n[NAME], cell: n => nodeLink(n[NAME])}, {title: 'Group', value: n => n[GROUP]},
    {title: 'CPU', numeric: true, value: n => shareOf(n, 0) ?? -1, cell: n => percent(shareOf(n, 0))},
    {title: 'Memory', numeric: true, value: n => shareOf(n, 1) ?? -1, cell: n => percent(shareOf(n, 1))},
    {title: 'Pods', numeric: true, value: n => n[USED][2]}, {title: 'State', value: n => troubles(n).join(', ')}], 2000);
  let tableShown = false;
  asTable.addEventListener('click', () => {
    tableShown = !tableShown;
    asTable.setAttribute('aria-expanded', String(tableShown));
    asTable.textContent = tableShown ? 'Hide the table' : 'Show as a table';
    tablePlace.replaceChildren(...tableShown ? [all.update([...map.nodes.values()]).element] : []);
  });
  const choose = () => {
    map.share = choices[colour.selectedIndex].share;
    map.paint();
  };
  colour.addEventListener('change', choose);
  group.addEventListener('change', () => feed.follow(group.value));

  const options = (select, entries) => {
    const before = select.value;
    select.replaceChildren(...entries.map(([value, text]) => h('option', {value}, text)));
    if (entries.some(([value]) => value === before)) select.value = before;
  };
  function begin(answer) {
    resources = answer.resources;
    choices = measures(resources);
    options(colour, choices.map(m => [m.label, m.label]));
    options(group, [['', 'zone'], ...answer.labels.map(l => [l, l])]);
    group.value = feed.label;
    map.share = choices[colour.selectedIndex].share;
    map.set(answer.nodes);
    if (asked && !map.selectByName(asked)) selected.textContent = `There is no node ${asked}.`;
    asked = null;
    count();
  }
  const count = () => { document.body.dataset.nodes = map.nodes.size; };
  const stop = feed.subscribe({nodes: begin, changes: d => { map.update(d); count(); }});
  let left = false, tables = null;
  async function refresh() {
    try {
      const s = await get('summary');
      if (left) return;
      top.replaceChildren(showNumbers(s));
      hour.replaceChildren(s.rates.length > 1 ? plot(s.rates, s.ratePeriodSeconds) : h('p', {class: 'hint'},
        s.live ? 'There will be a picture after the first twenty seconds.' : 'This is a result, and no scheduler at work.'));
      if (tableShown && !tablePlace.contains(document.activeElement)) all.update([...map.nodes.values()]);
    } catch { /* the feed says when nobody answers */ }
    if (!left) tables = setTimeout(refresh, 2000);
  }
  await refresh();
  return () => {
    left = true;
    clearTimeout(tables);
    stop();
    map.close();
  };
}

// The view of one node: what is free, its pods, and why pending pods do not fit there.
export async function node(place, [name]) {
  const wait = h('p', {role: 'status'}, 'Asking the scheduler...');
  place.append(h('h1', {}, `Node ${name || ''}`), wait);
  const n = await get(`nodes/${encodeURIComponent(name || '')}`).finally(() => wait.remove());
  place.append(numbers([['Pods', number(n.pods.length)], ...n.resources.filter(r => r.offered > 0).map(r =>
    [`${r.name} free`, `${amount(r.name, r.offered - r.used)} of ${amount(r.name, r.offered)}`])]));
  if (n.troubles.length) place.append(h('p', {role: 'alert'}, `It is ${n.troubles.join(', ')}.`));
  if (n.taints.length) place.append(h('p', {}, `Taints: ${n.taints.join(', ')}`));
  place.append(h('p', {}, h('a', {href: `#/nodes/${encodeURIComponent(name)}`}, 'Show it on the map')));
  place.append(h('h2', {}, 'Pending pods'), n.pending.length
    ? table('Why pending pods do not fit here, by kind of pod', [
      {title: 'Such as', value: p => p.pod, cell: p => podLink(p.pod)}, {title: 'Pods', numeric: true, value: p => p.pods},
      {title: 'Why not here', long: true, value: p => p.fits ? 'it would fit here' : p.reasons.join('; ')}], n.pending)
    : h('p', {}, 'No pod is pending.'));
  if (n.morePending) place.append(h('p', {class: 'hint'}, `and ${counted(n.morePending, 'other kind')} of pods`));
  place.append(h('h2', {}, 'Its pods'), n.pods.length ? table('Pods on this node', [
    {title: 'Pod', value: p => p.pod, cell: p => podLink(p.pod)},
    {title: 'CPU', numeric: true, value: p => p.milliCPU, cell: p => `${cores(p.milliCPU)} cores`},
    {title: 'Memory', numeric: true, value: p => p.memoryBytes, cell: p => `${gib(p.memoryBytes)} GiB`},
    {title: 'Priority', numeric: true, value: p => p.priority}, {title: 'Owner', value: p => p.owner || 'none'},
    {title: 'Age', numeric: true, value: p => -p.created, cell: p => age(p.created)},
    {title: 'State', value: p => p.ending ? 'is ending' : ''}], n.pods) : h('p', {}, 'There is no pod on it.'));
  return null;
}
