// Which view is shown: the path and the query of the address, which can be sent to others.
import {signal} from '@preact/signals';

export interface Place {
  view: string;  // '' is the overview
  name: string;  // what it shows, from the path
  query: URLSearchParams;
}

function read(): Place {
  const [view = '', name = ''] = location.pathname.slice(1).split('/').map(decodeURIComponent);
  return {view, name, query: new URLSearchParams(location.search)};
}

export const place = signal(read());

export function pathTo(view: string, name = '', query: Record<string, string> = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  const path = `/${view}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
  return search === '' ? path : `${path}?${search}`;
}

export function go(path: string, replace = false) {
  if (replace) history.replaceState(null, '', path);
  else history.pushState(null, '', path);
  place.value = read();
}

/// Has links of this page change the view instead of loading it anew.
export function takeLinks() {
  addEventListener('popstate', () => (place.value = read()));
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a');
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!link || !plain || link.origin !== location.origin || link.target !== '' || link.hash !== '') return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
