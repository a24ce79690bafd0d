// The views of preemptions, simulations, the configuration, and search results.
import {h, get, post, number, counted, explained, table, podLink, nodeLink} from './dom.js';
import {explanation, preemptionTable} from './pods.js';

export async function preemptions(place) {
  place.append(h('h1', {}, 'Preemptions'), explained('When a pod of high priority fits nowhere, the scheduler may evict pods of lower priority to make room for it.'));
  const p = await get('preemptions');
  place.append(p.preemptions.length ? preemptionTable(p.preemptions) : h('p', {}, 'No pod was evicted to make room for another.'));
  return null;
}

export async function config(place) {
  place.append(h('h1', {}, 'Configuration'), explained('The configuration that the scheduler runs with, flags and files together.'));
  place.append(h('pre', {tabindex: '0', role: 'region', 'aria-label': 'Configuration as JSON'}, JSON.stringify(await get('config'), null, 2)));
  return null;
}

export async function search(place, _, parameters) {
  const text = parameters.get('q') || '';
  place.append(h('h1', {}, `Search for “${text}”`));
  const found = await get(`search?q=${encodeURIComponent(text)}`);
  const list = (title, names, link) => [h('h2', {}, title), names.length ? h('ul', {}, names.map(n => h('li', {}, link(n)))) : h('p', {}, 'none'),
    names.length >= found.limit ? h('p', {class: 'hint'}, `These are ${number(names.length)} of them. Give more of the name to see others.`) : ''];
  place.append(...list('Nodes', found.nodes, nodeLink), ...list('Pods', found.pods, podLink));
  return null;
}

const EXAMPLE = `apiVersion: v1
kind: Pod
metadata:
  name: new-pod
  namespace: default
spec:
  containers:
  - name: main
    image: example
    resources:
      requests:
        cpu: 500m
        memory: 1Gi
`;


function drained(a) {
  return [
    h('p', {}, `${counted(a.evicted, 'pod')} would be evicted. ${number(a.placed)} of them would find another node, ${number(a.pending)} would not.`),
    a.complete ? '' : h('p', {role: 'alert'}, 'This took too long; the numbers are of the first pods only.'),
    a.violatedBudgets.length ? table('PodDisruptionBudgets that would be violated', [{title: 'Budget', value: b => b.budget},
      {title: 'Allows', numeric: true, value: b => b.allowed}, {title: 'Evicted', value: b => b.evicted.length, cell: b => b.evicted.join(', ')}], a.violatedBudgets) : '',
    a.withoutController.length ? h('p', {role: 'alert'}, `Nothing would create these again: ${a.withoutController.join(', ')}`) : '',
    table('Where the pods would go', [{title: 'Pod', value: m => m.pod, cell: m => podLink(m.pod)}, {title: 'From', value: m => m.from, cell: m => nodeLink(m.from)},
      {title: 'To', value: m => m.to, cell: m => m.to ? nodeLink(m.to) : 'nowhere'}, {title: 'Why not', long: true, value: m => m.error}], a.moves)];
}

export async function tryOut(place) {
  const spec = h('textarea', {id: 'spec', spellcheck: 'false', rows: '14'}), drain = h('input', {id: 'drain', size: '40', spellcheck: 'false'});
  spec.value = EXAMPLE;
  const result = h('div', {id: 'result', 'aria-live': 'polite'});
  const run = async (request, show) => {
    result.replaceChildren(h('p', {}, 'Asking the scheduler...'));
    try {
      result.replaceChildren(...show(await post('simulate', request())));
    } catch (e) {
      result.replaceChildren(h('p', {role: 'alert'}, String(e.message || e)));
    }
  };
  const askPod = () => run(() => ({manifest: spec.value}), a => [...explanation(a.explanation), ...a.notes.map(n => h('p', {class: 'hint'}, n))]);
  const askDrain = () => run(() => ({drain: drain.value.split(',').map(s => s.trim()).filter(s => s)}), drained);
  place.append(h('h1', {}, 'Try out'), h('p', {}, 'The answers come from the cluster as it is now. Nothing is created, moved or deleted.'),
    h('h2', {}, 'Where would this pod go?'), h('label', {for: 'spec'}, 'A pod, or a workload with a template of pods, as YAML or JSON'), spec,
    h('p', {}, h('button', {type: 'button', id: 'ask-pod', onclick: askPod}, 'Ask')),
    h('h2', {}, 'What if these nodes were drained?'),
    h('form', {onsubmit: e => { e.preventDefault(); askDrain(); }}, h('label', {for: 'drain'}, 'Names of nodes, separated by commas, or a label such as zone=a '), drain, ' ',
      h('button', {type: 'submit', id: 'ask-drain'}, 'Ask')), result);
  return null;
}
