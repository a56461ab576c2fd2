import type { Capabilities } from '../driver/capabilities.ts';
import type { Outgoing } from '../driver/driver.ts';
import type { Link } from '../settle/chain.ts';
import { notSent, type SendOutcome, unknown } from './send-outcome.ts';

/** One message on its way; settles once. */
export class SendRequest {
  readonly out: Outgoing;
  deadlineAtMs: number;
  handOverByMs: number = Number.POSITIVE_INFINITY;
  settled = false;
  handedOver = false;
  #resolve: (outcome: SendOutcome) => void;
  #unwatch: (() => void) | undefined;

  constructor(out: Outgoing, deadlineAtMs: number, resolve: (outcome: SendOutcome) => void) {
    this.out = out;
    this.deadlineAtMs = deadlineAtMs;
    this.#resolve = resolve;
  }

  /** The clock was put back by so much. */
  earlier(ms: number): void {
    this.deadlineAtMs -= ms;
    this.handOverByMs -= ms;
  }

  watch(signal: AbortSignal): void {
    const onAbort = (): void => {
      const outcome = this.handedOver ? unknown : notSent;
      this.settle(outcome('aborted', signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#unwatch = () => signal.removeEventListener('abort', onAbort);
  }

  settle(outcome: SendOutcome): void {
    if (this.settled) return;
    this.settled = true;
    this.#unwatch?.();
    this.#resolve(outcome);
  }
}

/** What went to the driver in one call. */
export class Flight {
  readonly requests: readonly SendRequest[];
  readonly abort: AbortController = new AbortController();
  readonly suspects: SendRequest[] = [];
  link: Link<Flight> | undefined;
  left: number;

  constructor(requests: readonly SendRequest[]) {
    this.requests = requests;
    this.left = requests.length;
  }
}

/** Requests that fit one `send`; settled ones are skipped, too large ones are settled here. */
export function nextChunk(
  queue: readonly SendRequest[],
  { from, room, nowMs }: { readonly from: number; readonly room: number; readonly nowMs: number },
  { batch, bodyBytes, sizeOf }: Capabilities,
): { readonly requests: readonly SendRequest[]; readonly taken: number } {
  const requests: SendRequest[] = [];
  let bytes = 0;
  let at = from;
  for (; at < queue.length && requests.length < Math.min(batch.items, room); at += 1) {
    const request = queue[at];
    if (request === undefined || request.settled) continue;
    if (request.handOverByMs <= nowMs) {
      request.settle(notSent('deadline', new Error('it could not be sent in time')));
      continue;
    }
    const size = sizeOf(request.out);
    if (size > bodyBytes) {
      const error = new Error(`${size} bytes, the limit is ${bodyBytes} bytes`);
      request.settle({ is: 'rejected', kind: 'too-large', error });
      continue;
    }
    const first = requests[0];
    if (first !== undefined) {
      if (bytes + size > batch.bytes) break;
      if (batch.oneAddress && first.out.to !== request.out.to) break;
    }
    bytes += size;
    requests.push(request);
  }
  return { requests, taken: at - from };
}
