import type { Line, ServerFaults } from '@ackord/conformance';
import type { MemoryBroker } from '../src/index.ts';

/** Faults of a broker in this process: a line is as good as the server behind it. */
export function faultsOf(broker: MemoryBroker): {
  readonly line: Line;
  readonly server: ServerFaults;
} {
  let letGo: (() => void) | undefined;
  const hold = (): void => {
    letGo ??= broker.faults.holdConfirms();
  };
  const release = (): void => {
    letGo?.();
    letGo = undefined;
  };
  const refuse = (): void => broker.faults.refuseOpen('connection');
  const accept = async (): Promise<void> => broker.faults.refuseOpen('connection', 0);
  const cut = (): void => broker.loseSession();
  const down = async (): Promise<void> => {
    refuse();
    cut();
  };
  const silence = (): void => {
    throw new Error("A case that silences the line says needs: ['silence'].");
  };
  return {
    line: { hold, release, cut, refuse, accept, silence },
    server: {
      stop: down,
      start: accept,
      kill: down,
      pause: async () => hold(),
      unpause: async () => release(),
    },
  };
}
