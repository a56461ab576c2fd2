import type { BusEvent, StepName } from '@ackord/core';
import type { Entry, SeenEvent } from './entry.ts';

type What = Entry['what'];
type EntryOf<W extends What> = Extract<Entry, { what: W }>;
type Unstamped<E> = E extends Entry ? Omit<E, 'atMs'> & { readonly atMs?: number } : never;

/** Everything that happened in a case, in the order in which it was seen. */
export class History {
  readonly #entries: Entry[] = [];

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  add(entry: Unstamped<Entry>): void {
    this.#entries.push({ atMs: Date.now(), ...entry } as Entry);
  }

  of<W extends What>(what: W): readonly EntryOf<W>[] {
    return this.#entries.filter((entry): entry is EntryOf<W> => entry.what === what);
  }

  /** Events of that name, of one message if an id is given. */
  events(name: BusEvent['event'], id?: string): readonly (SeenEvent & { atMs: number })[] {
    return this.of('event')
      .filter(({ event }) => event.event === name && (id === undefined || event.messageId === id))
      .map(({ event, atMs }) => ({ ...event, atMs }));
  }

  steps(name: StepName, id?: string): readonly EntryOf<'step'>[] {
    return this.of('step').filter(
      (entry) => entry.step === name && (id === undefined || entry.id === id),
    );
  }

  /** Runs of the test handler, in order of their start. */
  runs(id?: string): readonly EntryOf<'run'>[] {
    return this.of('run').filter((entry) => id === undefined || entry.id === id);
  }

  note(text: string): void {
    this.add({ what: 'note', who: 'case', text });
  }
}
