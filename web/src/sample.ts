// Events to try rules on: from the stream as it flows, from the journal, or from a file.
import {signal} from '@preact/signals';
import {get} from './server';
import {follow} from './tail';

interface Line {
  type: string;
  text: string;
}

// So many events are kept of the stream, the latest ones.
const kMostKept = 5000, kMostPerSecond = 1000, kMostOfJournal = 1000;

/// What was recorded, and how much of it is not there.
export class Recorder {
  readonly events = signal(0);
  readonly left = signal(0);
  readonly problem = signal('');
  readonly running = signal(false);
  private lines: Line[] = [];
  private end = () => {};

  start() {
    this.stop();
    this.lines = [];
    this.events.value = this.left.value = 0;
    this.problem.value = '';
    this.running.value = true;
    this.end = follow('*', kMostPerSecond, {
      open: () => {},
      take: (events) => {
        this.lines.push(...events.map(({type, timestamp, attributes}) => ({type, text: JSON.stringify({type, ts: timestamp, attrs: attributes})})));
        this.lines = this.lines.slice(-kMostKept);
        this.events.value = this.lines.length;
      },
      leaveOut: (rows) => (this.left.value += rows),
      problem: (text) => (this.problem.value = text),
    });
  }

  stop() {
    this.end();
    this.running.value = false;
  }

  /// The events as lines, without those of types that the rules make themselves.
  text(made: ReadonlySet<string>): string {
    return this.lines.filter((line) => !made.has(line.type)).map((line) => line.text).join('\n');
  }
}

/// Events that the server accepted since so many milliseconds ago, as lines.
export async function fromJournal(ago: number): Promise<string> {
  const lines: string[] = [];
  let query = `at=${Date.now() - ago}`;
  for (let more = true; more && lines.length < kMostKept; ) {
    const page = await get<{next: number; end: number; events: object[]}>(`journal/events?${query}&most=${kMostOfJournal}`);
    lines.push(...page.events.map((event) => JSON.stringify({...event, place: undefined})));
    query = `place=${page.next}`;
    more = page.next < page.end;
  }
  return lines.slice(0, kMostKept).join('\n');
}
