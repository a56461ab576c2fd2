import type { BusEvent, StepName } from '@ackord/core';

/** What happened, as the suite saw it. `who` is a bus or process; instants are ms since the epoch. */
export type Entry = { readonly atMs: number; readonly who: string } & (
  | { readonly what: 'sent'; readonly id: string; readonly body: Uint8Array }
  | {
      readonly what: 'outcome';
      readonly id: string;
      readonly outcome: 'confirmed' | 'rejected' | 'unknown';
      readonly code?: string;
      readonly tookMs: number;
    }
  /** Its transaction has committed. */
  | { readonly what: 'outboxed'; readonly id: string; readonly body: Uint8Array }
  | ({ readonly what: 'step'; readonly step: StepName } & Run)
  /** A handler began, and how it ended. */
  | ({ readonly what: 'run'; readonly act: string } & Run)
  | ({ readonly what: 'ran'; readonly ended: string } & Run)
  | { readonly what: 'event'; readonly event: SeenEvent }
  | { readonly what: 'started' | 'stopped' }
  | { readonly what: 'died'; readonly how: string }
  | { readonly what: 'note'; readonly text: string }
);

export interface Run {
  readonly id: string;
  readonly consumer: string;
  readonly attempt: number;
}

/** An event of a bus with errors as text, so that it passes between processes. */
export type SeenEvent = Readonly<Record<string, unknown>> & {
  readonly event: BusEvent['event'];
  readonly messageId?: string;
  readonly consumer?: string;
  readonly attempt?: number;
};

export function seen(event: BusEvent): SeenEvent {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(event)) {
    plain[name] = name === 'error' ? errorText(value) : value;
  }
  return plain as SeenEvent;
}

export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code: unknown = Reflect.get(error, 'code');
  return `${error.name}: ${error.message}${code === undefined ? '' : ` (${String(code)})`}`;
}
