// The view of all nodes: map, table, numbers, and the last hour.
import {h, get, number, cores, gib, percent, micros, clock, counted, explained, numbers, Table} from './dom.js';
import {NodeMap, measures, colourOf, troubles, shareOf, NAME, GROUP, OFFERED, USED} from './map.js';
import {feed} from './feed.js';

function amount(resource, value) {
  return resource === 'cpu' ? `${cores(value)} cores` : resource === 'memory' ? `${gib(value)} GiB` : number(value);
}

function describe(node, resources) {
  const parts = resources.map((name, i) => node[OFFERED][i] > 0 || i < 3
    ? h('li', {}, `${name}: ${amount(name, node[USED][i])} of ${amount(name, node[OFFERED][i])} requested (${percent(shareOf(node, i))})`) : null);
  const bad = troubles(node);
  return [h('strong', {}, node[NAME]), bad.length ? ` is ${bad.join(', ')}` : '', h('ul', {class: 'inline'}, parts)];
}

// Two lines over the last hour, with the numbers at their ends.
function plot(rates, seconds) {
  const NS = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(NS, 'svg');
  for (const [k, v] of Object.entries({class: 'plot', viewBox: '0 0 360 100', preserveAspectRatio: 'none', 'aria-hidden': 'true'})) svg.setAttribute(k, v);
  const most = index => Math.max(1, ...rates.map(r => r[index]));
  for (const [index, name] of [[1, 'bound'], [3, 'pending']]) {
    const line = document.createElementNS(NS, 'polyline'), top = most(index);
    line.setAttribute('class', name);
    line.setAttribute('points', rates.map((r, i) => `${360 - rates.length + i},${(97 - r[index] / top * 93).toFixed(1)}`).join(' '));
    svg.append(line);
  }
  const last = rates[rates.length - 1], perSecond = n => Number((n / seconds).toFixed(1)).toLocaleString('en');
  return h('figure', {}, svg, h('figcaption', {},
    h('span', {class: 'key bound'}, `pods bound: ${perSecond(last[1])} a second now, at most ${perSecond(most(1))}`), ' ',
    h('span', {class: 'key pending'}, `pods pending: ${number(last[3])} now, at most ${number(most(3))}`),
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
    {title: 'Node', value: n => n[NAME]}, {title: 'Group', value: n => n[GROUP]},
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
