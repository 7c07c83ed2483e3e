// Events as they come: a sample of what a text subscribes to, and how much is not in it.
import type {Event} from 'gorgo';
import {ask, textOf} from './server';

export interface Tail {
  take: (events: Event[]) => void;
  leaveOut: (rows: number) => void;
  /// What is wrong; '': it goes on.
  problem: (text: string) => void;
}

/// Subscribes, at most so many events a second, and returns what ends it. It goes on when the server has been away.
export function follow(text: string, most: number, tail: Tail): () => void {
  let over = false, close = () => {};
  const read = async () => {
    const stream = await ask((to) => to.subscribe(text, {most}));
    close = () => stream.close();
    if (over) close();
    for await (const item of stream.batches()) {
      if (item.kind === 'batch') tail.take(item.events);
      else if (item.kind === 'left_out') tail.leaveOut(item.rows);
      else if (item.kind === 'gap') tail.leaveOut(item.lost ?? 0);
      else if (item.kind === 'disconnected') tail.problem(`${item.reason}. Trying again.`);
      else if (item.kind === 'reconnected') tail.problem('');
    }
  };
  read().catch((error) => over || tail.problem(textOf(error)));
  return () => {
    over = true;
    close();
  };
}
