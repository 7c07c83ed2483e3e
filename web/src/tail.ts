// Events as they come: a sample of what a text subscribes to, and how much is not in it.
import type {Event} from 'gorgo';
import {ask, passes, textOf} from './server';

export interface Tail {
  /// What comes from now on is seen.
  open: () => void;
  take: (events: Event[]) => void;
  leaveOut: (rows: number) => void;
  /// What is wrong; '': it goes on.
  problem: (text: string) => void;
}

/// Subscribes, at most so many events a second, and returns what ends it. It goes on when the server has been away.
export function follow(text: string, most: number, tail: Tail): () => void {
  let over = false, close = () => {}, timer: ReturnType<typeof setTimeout> | undefined;
  const read = async () => {
    const stream = await ask((to) => to.subscribe(text, {most}));
    close = () => stream.close();
    if (over) close();
    tail.problem('');
    tail.open();
    for await (const item of stream.batches()) {
      if (item.kind === 'batch') tail.take(item.events);
      else if (item.kind === 'left_out') tail.leaveOut(item.rows);
      else if (item.kind === 'gap') tail.leaveOut(item.lost ?? 0);
      else if (item.kind === 'disconnected') tail.problem(`${item.reason}. Trying again.`);
      else if (item.kind === 'reconnected') tail.problem('');
    }
  };
  const start = () => {
    read().catch((error) => {
      if (over) return;
      tail.problem(passes(error) ? `${textOf(error)}. Trying again.` : textOf(error));
      if (passes(error)) timer = setTimeout(start, 1000);
    });
  };
  start();
  return () => {
    over = true;
    clearTimeout(timer);
    close();
  };
}
