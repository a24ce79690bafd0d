// The stream of nodes, one for the whole page; it also shows whether the scheduler can be reached. No requests are sent
// while the page is hidden.
const state = document.getElementById('state');
let last = '';
function say(text) {
  if (text !== last) state.textContent = text;
  last = text;
  state.classList.toggle('bad', text !== '');
  document.body.dataset.connected = text === '' ? 'yes' : 'no';
}

class Feed {
  constructor() {
    this.label = '';
    this.handlers = new Set();
    document.addEventListener('visibilitychange', () => document.hidden ? this.close() : this.open());
  }
  // `handlers` has functions `nodes` and `changes`. Returns a function that ends the subscription.
  subscribe(handlers) {
    this.handlers.add(handlers);
    this.open();  // a new stream begins with all nodes
    return () => this.handlers.delete(handlers);
  }
  follow(label) {
    this.label = label;
    this.open();
  }
  open() {
    this.close();
    const stream = this.stream = new EventSource(`api/nodes?label=${encodeURIComponent(this.label)}`);
    const heard = what => e => {
      const d = JSON.parse(e.data);
      say(d.leading ? '' : 'This scheduler does not decide: it waits for the lease that another one holds, or has lost it.');
      for (const f of this.handlers) f[what](d);
    };
    stream.addEventListener('nodes', heard('nodes'));
    stream.addEventListener('changes', heard('changes'));
    stream.onerror = () => {
      say('The scheduler does not answer. It has stopped, or lost its lease. Below is what was last known.');
      // After some errors a browser does not reconnect by itself.
      if (stream.readyState === EventSource.CLOSED) setTimeout(() => { if (this.stream === stream) this.open(); }, 2000);
    };
  }
  close() {
    if (this.stream) this.stream.close();
    this.stream = null;
  }
}
export const feed = new Feed();
