// The stream of server-sent events that feeds the page. EventSource cannot say who asks.
import {ask} from './server';

export interface SentEvent {
  kind: string;
  data: string;
}

function parse(block: string): SentEvent | null {
  const event: SentEvent = {kind: 'message', data: ''};
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event.kind = line.slice(7);
    if (line.startsWith('data: ')) event.data += line.slice(6);
  }
  return event.data === '' ? null : event;
}

/// Calls `take` with the events of each piece that comes, until the stream ends.
export async function listen(path: string, take: (events: SentEvent[]) => void, open: () => void) {
  const response = await ask((to) => to.http.fetch(path, {headers: {Accept: 'text/event-stream'}}));
  open();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    const blocks = (rest + piece.value).split('\n\n');
    rest = blocks.pop()!;
    const events = blocks.map(parse).filter((event) => event !== null);
    if (events.length > 0) take(events);
  }
}
