// The map of the nodes: a cell for each node, in groups, on a canvas. Only cells that change are repainted.

// The colours of Viridis, from dark to light. They can be told apart in grey and by colour-blind people.
const STOPS = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
  [110, 206, 88], [181, 222, 43], [253, 231, 37]];
const COLOURS = Array.from({length: 101}, (_, i) => {
  const at = i / 100 * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2), part = at - low;
  return `rgb(${STOPS[low].map((c, k) => Math.round(c + (STOPS[low + 1][k] - c) * part)).join(' ')})`;
});
export const colourOf = share => COLOURS[Math.round(Math.max(0, Math.min(1, share)) * 100)];

// Indexes into a node as api/nodes sends it.
export const ROW = 0, NAME = 1, GROUP = 2, FLAGS = 3, OFFERED = 4, USED = 5;
const TROUBLES = [[1, 'short of memory'], [2, 'short of disk space'], [4, 'not ready for pods'], [8, 'cordoned'], [16, 'tainted']];
export const troubles = node => TROUBLES.filter(([bit]) => node[FLAGS] & bit).map(([, text]) => text);
// A taint alone is not a problem: usually the node has been reserved.
const TROUBLED = 1 | 2 | 4 | 8;

export const shareOf = (node, resource) => node[OFFERED][resource] > 0 ? node[USED][resource] / node[OFFERED][resource] : null;
// What nodes can be coloured by: a name, and a function that returns the share of a node between 0 and 1, or null.
export function measures(resources) {
  const named = {cpu: 'CPU requested', memory: 'Memory requested', pods: 'Number of pods'};
  const out = resources.map((name, i) => ({label: named[name] || `${name} requested`, share: node => shareOf(node, i)}));
  out.push({label: 'Fullest resource', share: node => Math.max(...node[OFFERED].map((_, i) => shareOf(node, i) || 0))});
  out.push({label: 'Conditions: 100 % is in trouble', share: node => node[FLAGS] & TROUBLED ? 1 : 0});
  return out;
}

const LARGEST = 30, SMALLEST = 5, WITH_NUMBER = 22, HEADING = 20, GAP = 8;

export class NodeMap {
  constructor(canvas, onSelect) {
    Object.assign(this, {canvas, onSelect, share: () => null, nodes: new Map(), cells: new Map(), order: [], lines: [], selected: null});
    this.context = canvas.getContext('2d', {alpha: false});
    canvas.addEventListener('pointermove', e => { if (!this.pinned) this.point(e); });
    canvas.addEventListener('click', e => { this.pinned = this.point(e); });
    canvas.addEventListener('keydown', e => this.key(e));
    this.observer = new ResizeObserver(() => this.layout());
    this.observer.observe(canvas.parentElement);
    this.dark = matchMedia('(prefers-color-scheme: dark)');
    this.repaint = () => this.paint();
    this.dark.addEventListener('change', this.repaint);
  }
  close() {
    this.observer.disconnect();
    this.dark.removeEventListener('change', this.repaint);
  }

  // Replaces all nodes.
  set(nodes) {
    this.nodes = new Map(nodes.map(n => [n[ROW], n]));
    this.layout();
  }

  // Applies changes: `used` are [row, flags, used], `nodes` whole nodes, and `gone` rows.
  update({used, nodes, gone}) {
    performance.mark('map-update');
    for (const [row, flags, amounts] of used) {
      const node = this.nodes.get(row);
      if (!node) continue;
      node[FLAGS] = flags;
      node[USED] = amounts;
    }
    let again = false;
    for (const row of gone) again = this.nodes.delete(row) || again;
    for (const n of nodes) {
      const before = this.nodes.get(n[ROW]);
      again = again || !before || before[NAME] !== n[NAME] || before[GROUP] !== n[GROUP];
      this.nodes.set(n[ROW], n);
      const cell = this.cells.get(n[ROW]);
      if (cell) cell.node = n;
    }
    if (again) {
      this.layout();
    } else {
      for (const [row] of used) this.paintCell(this.cells.get(row));
      for (const n of nodes) this.paintCell(this.cells.get(n[ROW]));
    }
    performance.measure('map-update', 'map-update');
    if (this.selected !== null && this.nodes.has(this.selected)) this.onSelect(this.nodes.get(this.selected));
  }

  // Places the cells. They are as large as about 480 pixels of height allow, with each group under its heading.
  layout() {
    const width = Math.max(200, this.canvas.parentElement.clientWidth), ratio = Math.min(devicePixelRatio || 1, 2);
    const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(Math.sqrt(width * 480 / Math.max(1, this.nodes.size)))));
    const groups = new Map();
    for (const n of this.nodes.values()) {
      if (!groups.has(n[GROUP])) groups.set(n[GROUP], []);
      groups.get(n[GROUP]).push(n);
    }
    Object.assign(this, {size, width, perRow: Math.max(1, Math.floor(width / size)), order: [], lines: [], headings: []});
    this.cells.clear();
    let y = 0;
    for (const name of [...groups.keys()].sort()) {
      const members = groups.get(name).sort((a, b) => a[NAME] < b[NAME] ? -1 : 1);
      this.headings.push([`${name || 'no value'} (${members.length})`, y + 15]);
      y += HEADING;
      for (let i = 0; i < members.length; i += this.perRow) {
        const line = {y, rows: members.slice(i, i + this.perRow).map(n => n[ROW])};
        line.rows.forEach((row, column) => {
          this.cells.set(row, {node: this.nodes.get(row), x: column * size, y, index: this.order.length});
          this.order.push(row);
        });
        this.lines.push(line);
        y += size;
      }
      y += GAP;
    }
    this.height = Math.max(40, y);
    this.canvas.width = width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.height = `${this.height}px`;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint();
  }

  paint() {
    const style = getComputedStyle(document.documentElement), c = this.context;
    const colour = name => style.getPropertyValue(name).trim();
    Object.assign(this, {empty: colour('--cell-empty'), ink: colour('--ink'), ground: colour('--ground')});
    c.fillStyle = this.ground;
    c.fillRect(0, 0, this.width, this.height);
    c.fillStyle = this.ink;
    c.font = '13px system-ui, sans-serif';
    c.textAlign = 'left';
    for (const [text, y] of this.headings) c.fillText(text, 2, y);
    c.textAlign = 'center';
    c.textBaseline = 'alphabetic';
    c.font = '11px system-ui, sans-serif';
    for (const cell of this.cells.values()) this.paintCell(cell);
  }

  paintCell(cell) {
    if (!cell) return;
    const c = this.context, share = this.share(cell.node), s = this.size - 1, selected = cell.node[ROW] === this.selected;
    c.fillStyle = share === null ? this.empty : colourOf(share);
    c.fillRect(cell.x, cell.y, s, s);
    const over = share === null ? this.ink : share > 0.55 ? '#000' : '#fff';
    if (this.size >= WITH_NUMBER && share !== null) {
      c.fillStyle = over;
      c.fillText(String(Math.round(share * 100)), cell.x + s / 2, cell.y + s / 2 + 4);
    }
    if (cell.node[FLAGS] & TROUBLED) {
      // Problems are marked by a cross, not by a colour.
      c.strokeStyle = over;
      c.lineWidth = 1.5;
      c.beginPath();
      c.moveTo(cell.x + 1, cell.y + 1); c.lineTo(cell.x + s - 1, cell.y + s - 1);
      c.moveTo(cell.x + s - 1, cell.y + 1); c.lineTo(cell.x + 1, cell.y + s - 1);
      c.stroke();
    }
    if (selected) {
      c.strokeStyle = over;
      c.lineWidth = 2;
      c.strokeRect(cell.x + 1, cell.y + 1, Math.max(1, s - 2), Math.max(1, s - 2));
    }
  }

  select(row) {
    const before = this.cells.get(this.selected), cell = this.cells.get(row);
    if (!cell) return false;
    this.selected = row;
    this.paintCell(before);
    this.paintCell(cell);
    this.onSelect(cell.node);
    return true;
  }
  selectByName(name) {
    for (const n of this.nodes.values()) if (n[NAME] === name) return this.pinned = this.select(n[ROW]);
    return false;
  }
  point(e) {
    const box = this.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    const line = this.lines.find(l => y >= l.y && y < l.y + this.size);
    const row = line && line.rows[Math.floor(x / this.size)];
    return row !== undefined && (row === this.selected || this.select(row));
  }
  key(e) {
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: this.perRow, ArrowUp: -this.perRow}[e.key];
    const cell = this.cells.get(this.selected), at = cell ? cell.index : -1;
    let to;
    if (step) to = Math.max(0, Math.min(this.order.length - 1, at < 0 ? 0 : at + step));
    else if (e.key === 'Home') to = 0;
    else if (e.key === 'End') to = this.order.length - 1;
    else return;
    e.preventDefault();
    this.pinned = this.select(this.order[to]);
  }
}
