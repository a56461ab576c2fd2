import type { Assigned, Fault, Lane, LogBatch, LogReceiver, LogSession } from '@ackord/core/driver';
import { text } from '../broker-fixture.ts';

export type Feed = 'live' | 'retry' | 'parking';

/** A member that keeps what it is told. */
export interface Reader {
  readonly receiver: LogReceiver;
  readonly batches: LogBatch[];
  /** Latest assignment of each lane that is owned. */
  readonly lanes: Map<Lane, Assigned>;
  /** `assigned`, `unsettled`, `revoked` with lane and epoch, `delivered` with lane; in order. */
  readonly told: string[];
  readonly faults: { fault: Fault; ended: boolean }[];
  bodies(): readonly string[];
}

export async function reader(
  session: LogSession,
  feed: Feed = 'live',
  options: { start?: 'earliest' | 'latest'; bytes?: number } = {},
): Promise<Reader> {
  const { start = 'earliest', bytes = 1_000_000 } = options;
  const batches: LogBatch[] = [];
  const lanes = new Map<Lane, Assigned>();
  const told: string[] = [];
  const faults: { fault: Fault; ended: boolean }[] = [];
  let receiver: LogReceiver | undefined;
  const address = feed === 'live' ? 'reserve' : `reserve.${feed}`;
  await session.receive({ address, consumer: 'reserve', feed }, { start, bytes }, (attached) => {
    receiver = attached;
    return {
      assigned(at) {
        lanes.set(at.lane, at);
        told.push(`assigned ${at.lane} ${at.epoch}`);
      },
      unsettled: (lane, epoch) => told.push(`unsettled ${lane} ${epoch}`),
      revoked(lane, epoch) {
        lanes.delete(lane);
        told.push(`revoked ${lane} ${epoch}`);
      },
      delivered(batch) {
        batches.push(batch);
        told.push(`delivered ${batch.lane}`);
      },
      fault: (fault, ended) => faults.push({ fault, ended }),
    };
  });
  if (!receiver) throw new Error('The driver did not attach.');
  return {
    receiver,
    batches,
    lanes,
    told,
    faults,
    bodies: () => batches.flatMap(({ records }) => records.map(({ body }) => text(body))),
  };
}
