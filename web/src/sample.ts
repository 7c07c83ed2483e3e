// Events to try rules on: from the stream as it flows, from the journal, or from a file.
import {signal} from '@preact/signals';
import {get, textOf} from './api';
import {listen} from './sse';

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
  private ends = new AbortController();

  start() {
    this.stop();
    this.lines = [];
    this.events.value = this.left.value = 0;
    this.problem.value = '';
    this.running.value = true;
    const ends = (this.ends = new AbortController());
    const query = new URLSearchParams({subscribe: '*', slow: 'drop', most: String(kMostPerSecond)});
    listen(`/v1/events?${query}`, ends.signal, (events) => {
      for (const event of events) {
        const read = JSON.parse(event.data) as {type?: string; rows?: number; lost?: number | null; reason?: string};
        if (event.kind === 'message') this.lines.push({type: read.type!, text: event.data});
        else if (event.kind === 'error') this.problem.value = read.reason ?? '';
        else this.left.value += read.rows ?? read.lost ?? 0;
      }
      this.lines = this.lines.slice(-kMostKept);
      this.events.value = this.lines.length;
    }).then(() => this.over(ends), (error) => this.over(ends, textOf(error)));
  }

  stop() {
    this.ends.abort();
    this.running.value = false;
  }

  /// The events as lines, without those of types that the rules make themselves.
  text(made: ReadonlySet<string>): string {
    return this.lines.filter((line) => !made.has(line.type)).map((line) => line.text).join('\n');
  }

  private over(ends: AbortController, problem = '') {
    if (ends.signal.aborted) return;
    this.problem.value = problem;
    this.running.value = false;
  }
}

/// Events that the server accepted since so many milliseconds ago, as lines.
export async function fromJournal(ago: number): Promise<string> {
  const lines: string[] = [];
  let query = `at=${Date.now() - ago}`;
  for (let more = true; more && lines.length < kMostKept; ) {
    const page = await get<{next: number; end: number; events: object[]}>(`/v1/journal/events?${query}&most=${kMostOfJournal}`);
    lines.push(...page.events.map((event) => JSON.stringify({...event, place: undefined})));
    query = `place=${page.next}`;
    more = page.next < page.end;
  }
  return lines.slice(0, kMostKept).join('\n');
}
