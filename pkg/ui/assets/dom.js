// Shared by all views: elements, formatting of numbers, requests, and sortable tables. Text of the cluster always
// becomes a text node or an attribute, never markup.

// Makes an element: h('p', {class: 'x', onclick: f}, 'text', child, ...). Attributes that are null or false are
// omitted.
export function h(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
  return e;
}

export const number = n => Number(n).toLocaleString('en');
export const cores = milli => Number((milli / 1000).toFixed(milli < 10000 ? 2 : 1)).toLocaleString('en');
export const gib = bytes => Number((bytes / 2 ** 30).toFixed(bytes < 10 * 2 ** 30 ? 2 : 1)).toLocaleString('en');
export const percent = share => share === null ? 'none' : `${Math.round(share * 100)} %`;
export const clock = millis => new Date(millis).toLocaleTimeString('en', {hour12: false});
export function duration(seconds) {
  const s = Math.max(0, seconds);
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}
export const age = seconds => seconds ? duration(Date.now() / 1000 - seconds) : 'unknown';
export const micros = us => us < 1000 ? `${us} µs` : us < 1e6 ? `${Number((us / 1000).toFixed(1))} ms` : `${Number((us / 1e6).toFixed(1))} s`;
export const counted = (n, what) => `${number(n)} ${what}${n === 1 ? '' : 's'}`;

export const podAddress = key => `#/pod/${key.split('/').map(encodeURIComponent).join('/')}`;
export const podLink = key => h('a', {href: podAddress(key)}, key);
export const nodeLink = (name, shown) => name ? h('a', {href: `#/node/${encodeURIComponent(name)}`}, shown || name) : 'none';

// Returns what all names end with, from a dot or a dash on: nodes of clouds have long common endings.
export function commonEnding(names) {
  if (names.length < 2) return '';
  let end = names[0];
  for (const n of names) while (!n.endsWith(end)) end = end.slice(1);
  const at = end.search(/[.-]/);
  return at < 0 || end.length - at < 8 ? '' : end.slice(at);
}

async function answerOf(response) {
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    // The secure port rejects requests with plain text, in the words of the API server.
    if (response.status === 401) throw new Error(`The scheduler does not know who you are (status 401). ${text}`);
    if (response.status === 403) throw new Error(`You may not do this (status 403). ${text}`);
    throw new Error(`The answer is not JSON (status ${response.status}).`);
  }
  if (!response.ok) throw new Error(body.error || `Status ${response.status}.`);
  return body;
}
export const get = async path => answerOf(await fetch(`api/${path}`, {cache: 'no-store'}));
export const post = async (path, body) => answerOf(await fetch(`api/${path}`,
  {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)}));

// Shows a name such as NodeAffinityPriority so that the line can break between its words.
export const breakable = name => name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((part, i) => i ? [h('wbr'), part] : [part]);

// Adds an explanation for people who do not know a term.
export const explained = (...text) => h('details', {class: 'explained'}, h('summary', {}, 'What does this show?'), h('p', {}, ...text));

export function numbers(entries) {
  return h('dl', {class: 'numbers'}, entries.map(([title, value]) => h('div', {}, h('dt', {}, title), h('dd', {}, value))));
}

// A table that can be sorted by each column. A column is {title, value(row), numeric, long, cell(row)}: rows are sorted
// by `value`, which is also shown unless there is a `cell`; `long` columns hold sentences.
const kind = column => column.numeric ? 'number' : column.long ? 'long' : null;
export class Table {
  constructor(caption, columns, most = 500) {
    Object.assign(this, {columns, most, caption, rows: [], by: -1, descending: false});
    this.title = h('caption', {}, caption);
    this.body = h('tbody');
    this.headings = columns.map((c, i) => h('th', {scope: 'col', class: kind(c)},
      h('button', {type: 'button', onclick: () => this.sort(i)}, breakable(c.title))));
    this.element = h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
      h('table', {}, this.title, h('thead', {}, h('tr', {}, this.headings)), this.body));
  }
  sort(i) {
    this.descending = this.by === i && !this.descending;
    this.by = i;
    this.fill();
  }
  update(rows) {
    this.rows = rows;
    this.fill();
    return this;
  }
  fill() {
    let rows = this.rows;
    this.element.hidden = rows.length === 0;
    if (this.by >= 0) {
      const value = this.columns[this.by].value, sign = this.descending ? -1 : 1;
      rows = [...rows].sort((a, b) => {
        const x = value(a), y = value(b);
        return (x < y ? -1 : x > y ? 1 : 0) * sign;
      });
    }
    this.headings.forEach((th, i) => {
      if (i === this.by) th.setAttribute('aria-sort', this.descending ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
    this.title.textContent = this.caption + (rows.length > this.most ? ` (the first ${number(this.most)} of ${number(rows.length)} in this order)` : '');
    this.body.replaceChildren(...rows.slice(0, this.most).map(row => h('tr', {}, this.columns.map(c =>
      h('td', {class: kind(c), 'data-title': c.title}, c.cell ? c.cell(row) : c.numeric ? number(c.value(row)) : String(c.value(row)))))));
  }
}
export const table = (caption, columns, rows) => new Table(caption, columns).update(rows).element;

// A bar whose length is a share, with the number beside it.
export function bar(value, most) {
  const b = h('span', {class: 'bar', 'aria-hidden': 'true'});
  b.style.width = `${Math.max(2, Math.round(value / Math.max(1, most) * 120))}px`;
  return h('span', {class: 'barred'}, b, ` ${number(value)}`);
}
