import type { Assigned, Clock, CommitMark, Lane, Settled } from '@ackord/core/driver';
import type { MemoryFaults } from '../broker/faults.ts';
import type { LogServer } from './log-server.ts';
import type { Partition } from './partition.ts';

/** A lane in the hands of a member. */
export interface Ownership {
  readonly partition: Partition;
  readonly epoch: number;
  /** Next position to hand out. */
  at: bigint;
  paused: boolean;
  /** A rebalance is under way. */
  moving: boolean;
}

/** The broker's end of a log receiver. */
export interface Member {
  readonly owned: Map<Lane, Ownership>;
  readonly start: 'earliest' | 'latest';
  topics(): readonly string[];
  assigned(at: Assigned): void;
  unsettled(lane: Lane, epoch: number): void;
  revoked(lane: Lane, epoch: number): void;
  wake(): void;
  /** A topic it reads is gone. */
  cancelled(topic: string): void;
}

export interface Commit {
  readonly lane: Lane;
  readonly next: bigint;
  readonly note?: string;
}

export interface GroupOptions {
  readonly clock: Clock;
  readonly faults: MemoryFaults;
  /** From the moment a member comes or goes until lanes are handed out again. */
  readonly rebalanceMs: number;
}

/** Shares the partitions of topics among members, eagerly, and keeps what they commit. */
export class ConsumerGroup {
  readonly #server: LogServer;
  readonly #options: GroupOptions;
  readonly #members: Member[] = [];
  readonly #committed = new Map<Lane, Commit>();
  /** Where a lane begins for this group until something is committed. */
  readonly #origins = new Map<Lane, bigint>();
  readonly #history: Commit[] = [];
  #epoch = 0;
  #turn = 0;
  #pending = false;

  constructor(server: LogServer, options: GroupOptions) {
    this.#server = server;
    this.#options = options;
  }

  /** Every commit that was accepted, in order. */
  get history(): readonly Commit[] {
    return this.#history;
  }

  join(member: Member): void {
    this.#members.push(member);
    this.rebalance();
  }

  leave(member: Member): void {
    const at = this.#members.indexOf(member);
    if (at < 0) return;
    this.#members.splice(at, 1);
    member.owned.clear();
    this.rebalance();
  }

  /** @param move - Deal lanes to other members than before, where there are several. */
  rebalance(move = false): void {
    if (move) this.#turn++;
    if (this.#pending) return;
    this.#pending = true;
    for (const member of [...this.#members]) {
      for (const [lane, own] of [...member.owned]) {
        own.moving = true;
        member.unsettled(lane, own.epoch);
      }
    }
    this.#options.clock.after(this.#options.rebalanceMs, () => {
      this.#pending = false;
      this.#deal();
    });
  }

  commit(member: Member, marks: readonly CommitMark[]): readonly Settled[] {
    return marks.map(({ lane, epoch, next, note }) => {
      if (member.owned.get(lane)?.epoch !== epoch) return 'stale';
      const lost = this.#options.faults.takeLostSettle();
      if (lost) return lost;
      const commit: Commit = { lane, next, ...(note === undefined ? {} : { note }) };
      this.#committed.set(lane, commit);
      this.#history.push(commit);
      return 'ok';
    });
  }

  /** Positions between what is committed and the end. */
  lag(topics: readonly string[]): number {
    return this.#partitions(topics).reduce(
      (sum, partition) => sum + Number(partition.high - this.#from(partition, 'earliest')),
      0,
    );
  }

  appended(): void {
    for (const member of this.#members) member.wake();
  }

  cancel(topic: string): void {
    for (const member of [...this.#members]) {
      if ([...member.owned.values()].some(({ partition }) => partition.topic === topic)) {
        member.cancelled(topic);
      }
    }
  }

  #deal(): void {
    const epoch = ++this.#epoch;
    const members = [...this.#members];
    const shares = this.#shares(members);
    for (const member of members) {
      for (const [lane, own] of [...member.owned]) {
        if (shares.get(member)?.some((partition) => partition.lane === lane)) continue;
        member.owned.delete(lane);
        member.revoked(lane, own.epoch);
      }
    }
    for (const [member, partitions] of shares) {
      for (const partition of partitions) {
        // A sink may leave while it is told.
        if (this.#members.includes(member)) this.#give(member, partition, epoch);
      }
    }
  }

  #shares(members: readonly Member[]): ReadonlyMap<Member, readonly Partition[]> {
    const shares = new Map(members.map((member) => [member, [] as Partition[]]));
    let turn = this.#turn;
    for (const name of new Set(members.flatMap((member) => member.topics()))) {
      const able = members.filter((member) => member.topics().includes(name));
      for (const partition of this.#partitions([name])) {
        const member = able[turn++ % able.length];
        if (member) shares.get(member)?.push(partition);
      }
    }
    return shares;
  }

  /** Also for a lane that stays: it starts again at what is committed, under a new epoch. */
  #give(member: Member, partition: Partition, epoch: number): void {
    const { lane, low, high } = partition;
    const commit = this.#committed.get(lane);
    const at = this.#from(partition, member.start);
    if (!commit) this.#origins.set(lane, at);
    member.owned.set(lane, { partition, epoch, at, paused: false, moving: false });
    member.assigned({
      lane,
      epoch,
      low,
      high,
      ...(commit === undefined ? {} : { committed: commit.next }),
      ...(commit?.note === undefined ? {} : { note: commit.note }),
    });
    member.wake();
  }

  #from({ lane, low, high }: Partition, start: 'earliest' | 'latest'): bigint {
    const at = this.#committed.get(lane)?.next ?? this.#origins.get(lane);
    if (at === undefined) return start === 'earliest' ? low : high;
    return at < low ? low : at;
  }

  #partitions(topics: readonly string[]): readonly Partition[] {
    return topics.flatMap((name) => this.#server.topic(name)?.partitions ?? []);
  }
}
