// The views of pending pods and of one pod.
import {h, get, commonEnding, breakable, number, cores, gib, age, clock, counted, explained, numbers, Table, table, bar, podLink, nodeLink} from './dom.js';

const pendingAddress = parameters => {
  const p = new URLSearchParams(Object.entries(parameters).filter(([, v]) => v));
  return `#/pending?${p}`;
};
const FILTERS = {reason: 'reason', namespace: 'namespace', owner: 'owner', place: 'what they wait for'};

// Says what it would do to mend all nodes that share a trouble. Returns, by reason, what would help one pod.
async function showFixes(place) {
  const f = await get('fixes').catch(() => ({fixes: [], byReason: []}));
  if (f.fixes.length) place.append(h('h2', {}, 'What repairing nodes would do'),
    h('ul', {id: 'fixes'}, f.fixes.map(x => h('li', {}, `${x.what} places ${number(x.placed)} of ${number(f.pending)}`))));
  return new Map(f.byReason.map(r => [r.reason, r]));
}

// What would help one of the pods that wait for a reason: sentences that hold for this pod, which is named.
function helpOf(tried) {
  if (!tried) return 'see the pages of these pods';
  const such = tried.alike > 1 ? [' and ', counted(tried.alike - 1, 'pod'), ' like it'] : '';
  const lines = tried.fitsNow ? ['it would fit now, and waits to be tried again']
    : tried.awaited.length ? ['it waits for the end of pods that were evicted for it: ', tried.awaited.map((p, i) => [i ? ', ' : '', podLink(p)])]
    : [...tried.lacking.map(l => [l, h('br')]), ...tried.ways.map((w, i) => [i ? [h('br'), 'or '] : '', w])];
  return [podLink(tried.pod), such, ': ', lines.length ? lines : 'no change to one node was found that makes it fit'];
}

export async function pending(place, _, parameters) {
  const filter = Object.fromEntries([...parameters].filter(([k]) => k in FILTERS));
  const offset = Number(parameters.get('offset')) || 0;
  const query = new URLSearchParams({...filter, offset, limit: 100});
  const link = (key, value, text) => h('a', {href: pendingAddress({[key]: value})}, text);
  let most = 1;
  const pods = {title: 'Pods', numeric: true, value: r => r.pods, cell: r => bar(r.pods, most)};
  let tried = null;
  delete document.body.dataset.tried;
  const byReason = new Table('Why the last attempt found no node, and what would help', [
    {title: 'Reason that decides', value: r => r.reason, long: true, cell: r => r.known ? link('reason', r.reason, r.reason) : r.reason}, pods,
    {title: 'Also given for', numeric: true, value: r => r.alsoGivenFor || 0},
    {title: 'What it means', long: true, value: r => r.help},
    {title: 'What would help', long: true, value: r => r.reason, cell: r => !r.known ? '' : tried ? helpOf(tried.get(r.reason)) : 'is being tried on a copy of the cluster'}]);
  const byOwner = new Table('By owner', [
    {title: 'Namespace', value: r => r.namespace, cell: r => link('namespace', r.namespace, r.namespace)},
    {title: 'Owner', value: r => r.owner, cell: r => r.owner ? link('owner', r.owner, r.owner) : 'none'}, pods]);
  const byPlace = new Table('By what they wait for', [
    {title: 'A pod that ...', long: true, value: r => r.meaning, cell: r => link('place', r.place, r.meaning)}, pods]);
  const byAge = new Table('By age', [{title: 'Age', value: r => r.age}, pods]);
  const byAttempts = new Table('By number of attempts', [{title: 'Attempts', value: r => r.attempts}, pods]);
  const list = new Table('Pods, the oldest first', [
    {title: 'Pod', value: p => `${p.namespace}/${p.name}`, cell: p => podLink(`${p.namespace}/${p.name}`)},
    {title: 'Age', numeric: true, value: p => -p.created, cell: p => age(p.created)},
    {title: 'Attempts', numeric: true, value: p => p.attempts}, {title: 'Priority', numeric: true, value: p => p.priority},
    {title: 'Last answer', long: true, value: p => p.message || p.reasons.join(', ')}]);
  const heading = h('h1', {}, 'Pending pods'), shown = h('p'), fixes = h('div'), pages = h('p', {class: 'controls'}), none = h('p');
  const groups = h('div', {}, byReason.element, h('div', {class: 'two'}, byOwner.element, h('div', {}, byPlace.element, byAge.element, byAttempts.element)));
  place.append(heading, explained('A pod is pending until the scheduler has found a node for it. When no node fits, each node has a reason. A pod is counted ',
    'under the reason that most of the nodes nearest to fitting give: those where moving other pods away would help, if there are any. The scheduler tries again by itself when something changes that may help.'),
  none, groups, fixes, shown, list.element, pages);
  let reasons = [];
  showFixes(Object.keys(filter).length ? h('div') : fixes).then(found => {
    tried = found;
    byReason.update(reasons);
    document.body.dataset.tried = 'yes';
  });

  async function refresh() {
    const p = await get(`pending?${query}`);
    heading.textContent = `${counted(p.pending, 'pending pod')}`;
    none.textContent = p.pending ? '' : 'Every pod has a node.';
    groups.hidden = !p.pending;
    most = Math.max(1, ...p.byReason.map(r => r.pods), ...p.byOwner.map(r => r.pods), ...p.byPlace.map(r => r.pods));
    reasons = [...p.byReason.map(r => ({...r, known: true})), ...p.withoutReason ? [{reason: 'not tried yet', pods: p.withoutReason, help: 'The pod waits for its turn.'}] : []];
    byReason.update(reasons);
    byOwner.update(p.byOwner);
    byPlace.update(p.byPlace);
    byAge.update(p.byAge.filter(r => r.pods));
    byAttempts.update(p.byAttempts.filter(r => r.pods));
    const chosen = Object.entries(filter).map(([k, v]) => `${FILTERS[k]} “${v}”`);
    shown.replaceChildren(...chosen.length ? [`Only pods with ${chosen.join(' and ')}: ${number(p.selected)}. `, h('a', {href: '#/pending'}, 'Show all')] : []);
    list.update(p.pods);
    pages.replaceChildren(
      offset > 0 ? h('a', {href: pendingAddress({...filter, offset: Math.max(0, offset - 100)})}, 'Older pods') : '',
      p.selected > 100 ? ` ${number(p.offset + 1)} to ${number(p.offset + p.pods.length)} of ${number(p.selected)} ` : '',
      p.offset + p.pods.length < p.selected ? h('a', {href: pendingAddress({...filter, offset: offset + 100})}, 'Younger pods') : '');
    document.body.dataset.pending = p.pending;
  }
  await refresh();
  // The list is not refreshed while somebody is using it.
  const timer = setInterval(() => {
    if (!document.hidden && !place.contains(document.activeElement)) refresh().catch(() => {});
  }, 3000);
  return () => clearInterval(timer);
}

// Names of nodes as links, without what all of them end with.
function shortLinks(names) {
  const end = commonEnding(names);
  return [names.map((n, i) => [i ? ', ' : '', nodeLink(n, end ? n.slice(0, -end.length) : n)]), end ? ` (…${end})` : ''];
}

// What a pending pod waits for, as the first thing that its page says.
function waits(w) {
  return h('div', {class: 'waits', id: 'waits'}, h('p', {}, h('strong', {}, w.sentence), w.node ? [' ', nodeLink(w.node)] : '',
    w.pods && w.pods.length ? [': ', w.pods.map((p, i) => [i ? ', ' : '', podLink(p)])] : ''),
  w.until ? h('p', {}, `${w.backsOff ? 'Its back-off lasts until' : 'It is tried again by'} ${clock(w.until)}.`) : '');
}

// The explanation of a pod: what the scheduler would decide, and why.
export function explanation(e, said = '') {
  const out = [];
  for (const sentence of e.lacking || []) if (sentence !== said) out.push(h('p', {role: 'alert'}, sentence));
  if (e.node) {
    out.push(h('p', {}, 'Asked now, the scheduler would choose ', nodeLink(e.node), `: the pod fits on ${number(e.feasible)} of ${counted(e.nodes, 'node')}`,
      e.ties > 1 ? `, and ${number(e.ties)} of them are equally good; they take turns.` : '.'));
  } else {
    out.push(h('p', {}, `Asked now, the scheduler finds no node for it. ${e.error}`));
  }
  if (e.wouldHelp.length) {
    out.push(h('h2', {}, 'What would help'), h('p', {class: 'hint'}, 'Each line alone lets the pod fit, those with the fewest changes first. Each was tried on a copy of the cluster.'),
      h('ul', {}, e.wouldHelp.map((w, i) => h('li', {}, w, e.ways && e.ways[i] && e.ways[i].moves.length
        ? [' (who would have to move: ', e.ways[i].moves.map((m, k) => [k ? ', ' : '', podLink(m)]), ')'] : ''))));
  }
  if (e.preemption && e.preemption.node) {
    out.push(h('h2', {}, 'Preemption'), h('p', {}, 'The pod would fit on ', nodeLink(e.preemption.node), ` if ${counted(e.preemption.victimCount, 'pod')} of lower priority were evicted: `,
      e.preemption.victims.map((v, i) => [i ? ', ' : '', podLink(v)])));
  }
  if (e.failures.length) {
    out.push(h('h2', {}, 'Nodes where it does not fit'), table('In groups by the first rule that says no', [
      {title: 'Rule', value: f => f.rule, cell: f => breakable(f.rule)}, {title: 'It asks', long: true, value: f => f.question},
      {title: 'Answer', long: true, value: f => f.reason},
      {title: 'Nodes', numeric: true, value: f => f.nodes},
      {title: 'Such as', value: f => f.examples[0], cell: f => shortLinks(f.examples)},
      {title: 'What that means', long: true, value: f => f.help}], e.failures));
  }
  if (e.top.length) {
    const scored = e.rules.length > 0, rules = e.rules.map((r, i) => ({r, i}));
    const same = scored && e.top.length > 1 ? rules.filter(({i}) => e.top.every(t => t.scores[i].weighted === e.top[0].scores[i].weighted)) : [];
    out.push(h('h2', {}, 'Nodes where it fits'), h('p', {class: 'hint'}, scored
      ? `Each rule gives a node points from 0 to ${number(e.maxScore)}, which are multiplied by the weight of the rule and added up. Most points win.`
      : 'One node fits, so there was nothing to compare.'),
    same.length ? h('p', {}, `The same on all of these: ${same.map(({r, i}) => `${r.name} ${number(e.top[0].scores[i].weighted)}`).join(', ')}.`) : '',
    table('The best nodes', [
      {title: 'Node', value: t => t.node, cell: t => [nodeLink(t.node), t.chosen ? ' (chosen)' : '']},
      ...scored ? [{title: 'Total', numeric: true, value: t => t.total}] : [],
      ...rules.filter(x => !same.includes(x)).map(({r, i}) => ({title: r.name, numeric: true, value: t => t.scores[i].weighted,
        cell: t => r.weight === 1 ? number(t.scores[i].raw) : `${number(t.scores[i].raw)} × ${number(r.weight)} = ${number(t.scores[i].weighted)}`}))], e.top));
    if (scored) {
      out.push(h('details', {}, h('summary', {}, 'What do these rules ask?'), h('dl', {}, e.rules.map(r => [h('dt', {}, `${r.name}, weight ${r.weight}`), h('dd', {}, r.question || 'a rule of a plugin')]))));
    }
  }
  return out;
}

export async function pod(place, path) {
  const key = path.join('/');
  const wait = h('p', {role: 'status'}, 'Asking the scheduler...');
  place.append(h('h1', {}, `Pod ${key}`), wait);
  const p = await get(`pods/${path.map(encodeURIComponent).join('/')}`).finally(() => wait.remove());
  if (p.state === 'gone') {
    place.append(h('p', {}, 'This pod is gone; below is what is remembered of it.'));
  } else {
    place.append(numbers([['State', p.state === 'placed' ? 'has a node' : 'pending'], ['Node', nodeLink(p.node)],
      ['Requests', `${cores(p.requests.milliCPU)} cores, ${gib(p.requests.memoryBytes)} GiB`], ['Priority', number(p.priority)],
      ['Owner', p.owner || 'none'], ['Age', age(p.created)]]));
    if (p.waitsFor) place.append(waits(p.waitsFor));
    if (p.state === 'placed') place.append(h('p', {class: 'hint'}, `It runs on ${p.node}. What follows is what the scheduler would decide if it came now.`));
  }
  if (p.explanation) place.append(...explanation(p.explanation, p.waitsFor && p.waitsFor.sentence));
  if (p.explanationError) place.append(h('p', {role: 'alert'}, `There is no explanation: ${p.explanationError}`));
  for (const n of p.notes) place.append(h('p', {class: 'hint'}, n));
  place.append(h('h2', {}, 'What was tried'), p.attempts.length ? table('The newest first', [
    {title: 'Time', value: a => a.time, cell: a => clock(a.time)}, {title: 'Node', value: a => a.node, cell: a => nodeLink(a.node)},
    {title: 'Nodes that fit', numeric: true, value: a => a.feasible}, {title: 'Answer', long: true, value: a => a.message || 'placed'}], p.attempts)
    : h('p', {class: 'hint'}, 'No attempt is remembered. Only the last attempts of the whole cluster are.'));
  if (p.preemptions.length) place.append(h('h2', {}, 'Preemptions'), preemptionTable(p.preemptions));
  return null;
}

export const preemptionTable = entries => table('The newest first', [
  {title: 'Time', value: e => e.time, cell: e => clock(e.time)}, {title: 'To make room for', value: e => e.pod, cell: e => podLink(e.pod)},
  {title: 'Node', value: e => e.node, cell: e => nodeLink(e.node)}, {title: 'Pods', numeric: true, value: e => e.victimCount},
  {title: 'Evicted', value: e => e.victims[0] || '', cell: e => e.victims.map((v, i) => [i ? ', ' : '', podLink(v)])}], entries);
