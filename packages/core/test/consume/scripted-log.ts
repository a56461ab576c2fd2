import type {
  CommitMark,
  LogBatch,
  LogReceiver,
  LogRecord,
  LogSession,
  LogSink,
  Settled,
} from '../../src/driver/driver.ts';

/** A log session whose broker is the test: it says what the driver would, and keeps what it is told. */
export class ScriptedLog implements LogReceiver {
  readonly session: LogSession;
  /** `pause <lane>`, `resume <lane>`, `seek <lane> <position>`, `stop`, `leave`; in order. */
  readonly told: string[] = [];
  readonly commits: (readonly CommitMark[])[] = [];
  /** What the next commits answer; `ok` for every mark when none is left. */
  readonly answers: (() => Promise<readonly Settled[]>)[] = [];
  /** Opening resolves after this; the sink is attached before. */
  joined: Promise<void> = Promise.resolve();
  #sink: LogSink | undefined;

  constructor() {
    const receive: LogSession['receive'] = async (_from, _options, attach) => {
      this.#sink = attach(this);
      await this.joined;
    };
    // The intake asks a session for nothing else.
    this.session = { kind: 'log', receive } as unknown as LogSession;
  }

  get sink(): LogSink {
    if (this.#sink === undefined) throw new Error('Nothing is attached.');
    return this.#sink;
  }

  assign(lane: string, epoch: number, more: { committed?: bigint; low?: bigint } = {}): void {
    this.sink.assigned({ lane, epoch, low: 0n, high: 1_000_000n, ...more });
  }

  /** Records of keys, one position each, from a position on. */
  deliver(
    lane: string,
    epoch: number,
    from: number,
    keys: readonly string[],
    more: Partial<LogRecord> = {},
  ): void {
    const records = keys.map((key, n) => ({ ...record(from + n, key), ...more }));
    this.sink.delivered(batch(lane, epoch, from, records));
  }

  pause(lane: string, on: boolean): void {
    this.told.push(`${on ? 'pause' : 'resume'} ${lane}`);
  }

  seek(lane: string, position: bigint): void {
    this.told.push(`seek ${lane} ${position}`);
  }

  commit(marks: readonly CommitMark[]): Promise<readonly Settled[]> {
    this.commits.push(marks);
    const answer = this.answers.shift();
    return answer === undefined ? Promise.resolve(marks.map(() => 'ok')) : answer();
  }

  async stop(): Promise<void> {
    this.told.push('stop');
  }

  async leave(): Promise<void> {
    this.told.push('leave');
  }
}

/** Its body is `<key><position>`. */
function record(position: number, key: string): LogRecord {
  return {
    position: BigInt(position),
    key,
    body: new TextEncoder().encode(`${key}${position}`),
    headers: {},
    brokerAtMs: 0,
    native: {},
  };
}

function batch(lane: string, epoch: number, from: number, records: readonly LogRecord[]): LogBatch {
  const next = BigInt(from + records.length);
  return { lane, epoch, from: BigInt(from), next, receivedAtMs: 0, records };
}
