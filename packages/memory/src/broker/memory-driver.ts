import type { Driver, LogSession, OpenOptions, QueueSession } from '@ackord/core/driver';
import type { MemoryBroker } from './memory-broker.ts';
import { classifyMemoryError } from './memory-broker-error.ts';
import type { SessionLife } from './session-life.ts';

export interface MemoryDriver extends Driver {
  readonly memoryBroker: MemoryBroker;
  /**
   * For tests: the process behind this driver is gone. Its deliveries come again elsewhere, its
   * sessions end without a word, and `open()` waits until its signal aborts.
   */
  kill(): void;
}

export interface Profile {
  readonly broker: MemoryBroker;
  readonly profile: string;
  readonly plan: Driver['plan'];
  readonly session: (
    io: OpenOptions,
  ) => (QueueSession | LogSession) & { readonly life: SessionLife };
}

export function createDriver({ broker, profile, plan, session }: Profile): MemoryDriver {
  const lives = new Set<SessionLife>();
  let killed = false;
  return {
    profile,
    broker: 'memory',
    memoryBroker: broker,
    plan,
    async open(io) {
      io.signal.throwIfAborted();
      if (killed) return rejectOnAbort(io.signal);
      broker.admit();
      const opened = session(io);
      lives.add(opened.life);
      return opened;
    },
    classify: classifyMemoryError,
    kill() {
      killed = true;
      for (const life of lives) life.close();
    },
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
