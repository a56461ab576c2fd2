import type { Writable } from 'node:stream';

/**
 * What is written in one turn leaves in one system call. amqplib writes every message to the socket
 * by itself, and a call costs about as much as everything else that is done for a message.
 */
export function gatherWrites(stream: Pick<Writable, 'write' | 'cork' | 'uncork'>): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let gathering = false;
  const flush = (): void => {
    gathering = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]): boolean => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      process.nextTick(flush);
    }
    return write(...args);
  };
}
