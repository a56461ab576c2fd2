import type {
  Delivery,
  Driver,
  Fault,
  QueueReceiver,
  QueueSession,
  Settle,
  Settled,
} from '@ackord/core/driver';
import { text } from '../broker-fixture.ts';

/** A receiver that keeps what it gets. */
export interface Inlet {
  readonly receiver: QueueReceiver;
  readonly got: Delivery[];
  readonly faults: { fault: Fault; ended: boolean }[];
  /** Bodies in order of arrival. */
  bodies(): readonly string[];
  settle(index: number, how: Settle): Promise<Settled>;
}

export async function inlet(
  session: QueueSession,
  driver: Driver,
  address: string,
  window = 100,
): Promise<Inlet> {
  const got: Delivery[] = [];
  const faults: { fault: Fault; ended: boolean }[] = [];
  let receiver: QueueReceiver | undefined;
  await session.receive({ address, consumer: 'reserve', feed: 'live' }, (attached) => {
    receiver = attached;
    return {
      delivered: (deliveries) => got.push(...deliveries),
      fault: (fault, ended) => faults.push({ fault, ended }),
    };
  });
  if (!receiver) throw new Error(`${driver.profile} did not attach.`);
  const attached = receiver;
  attached.setWindow(window);
  return {
    receiver: attached,
    got,
    faults,
    bodies: () => got.map((delivery) => text(delivery.body)),
    async settle(index, how) {
      const token = got[index]?.token;
      const [answer] = await attached.settle([{ token, how }], new AbortController().signal);
      return answer ?? 'unknown';
    },
  };
}
