// Events as `gorgo why` spells them, `Temp@1200 {area="A1", value=42.5}`, as links to where they stand in the journal.
import type {ComponentChildren} from 'preact';
import {pathTo} from './route';
import {hasJournal} from './store';

export interface Named {
  type: string;
  at: number;  // milliseconds
  text: string;
}

/// The events that a text names, in its order. Braces within strings end nothing.
export function eventsIn(text: string): Named[] {
  const pattern = /([A-Za-z_][\w.]*)@(-?[\d.]+) \{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}/g;
  return [...text.matchAll(pattern)].map((found) => ({type: found[1]!, at: Number(found[2]), text: found[0]}));
}

export const pathToEvent = (event: Named) => pathTo('events', '', {at: String(Math.floor(event.at)), type: event.type});

/// The text with its events as links, where the server keeps events.
export function WithLinks(props: {text: string}) {
  const {text} = props;
  if (!hasJournal.value) return <code>{text}</code>;
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const event of eventsIn(text)) {
    const at = text.indexOf(event.text, from);
    parts.push(text.slice(from, at), <a key={at} href={pathToEvent(event)} title="show it in the journal">{event.text}</a>);
    from = at + event.text.length;
  }
  return <code>{parts}{text.slice(from)}</code>;
}
