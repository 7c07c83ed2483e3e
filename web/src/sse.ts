// Server-sent events by fetch, because EventSource cannot say who asks.
import {request} from './api';

export interface SentEvent {
  kind: string;
  id: string;
  data: string;
}

function parse(block: string): SentEvent | null {
  const event: SentEvent = {kind: 'message', id: '', data: ''};
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event.kind = line.slice(7);
    if (line.startsWith('id: ')) event.id = line.slice(4);
    if (line.startsWith('data: ')) event.data += line.slice(6);
  }
  return event.data === '' ? null : event;
}

/// Calls `take` with the events of each piece that comes, until the stream ends or `signal` aborts.
/// Throws what `request` throws.
export async function listen(path: string, signal: AbortSignal, take: (events: SentEvent[]) => void, open = () => {}) {
  const response = await request(path, {signal, headers: {Accept: 'text/event-stream'}});
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
