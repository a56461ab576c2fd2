import type { GenericContainer } from 'testcontainers';
import { BrokerUnavailable } from './broker.ts';
import { freePort } from './free-port.ts';
import { containerEngine } from './image.ts';
import { ignoreAbsent, runLabels, sweepLeftovers } from './sweep.ts';

/** A free port can be taken before the engine binds it; then another one is tried. */
const PORT_TRIES = 4;
const STARTUP_MS = 90_000;

/** Container of a started broker. */
export interface BrokerContainer {
  readonly id: string;
  /** Ports on the host, in the order asked for. */
  readonly ports: readonly number[];
}

/** Starts a labelled container with fixed host ports, so that a restart keeps its address. */
export async function startContainer(
  build: () => GenericContainer,
  ports: readonly number[],
): Promise<BrokerContainer> {
  // Leftovers are swept by our own labels: the image of testcontainers' reaper cannot be had on a closed network.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  await sweepLeftovers(await containerEngine());
  for (let tries = 1; ; tries += 1) {
    const hosts = await distinctPorts(ports.length);
    try {
      const container = await build()
        .withExposedPorts(
          ...ports.map((port, index) => ({ container: port, host: hosts[index] as number })),
        )
        .withLabels(runLabels())
        .withStartupTimeout(STARTUP_MS)
        .withAutoRemove(false)
        .start();
      return { id: container.getId(), ports: hosts };
    } catch (error) {
      const taken = /port is already allocated|address already in use/i.test(String(error));
      if (!taken || tries === PORT_TRIES) throw error;
    }
  }
}

/** Host on which the engine publishes ports. */
export async function engineHost(): Promise<string> {
  const { host } = (await containerEngine()).info.containerRuntime;
  // Some systems resolve localhost to ::1 first, where older engines publish nothing.
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Runs a command inside a container and resolves to its output. Throws with the output when it fails. */
export async function execIn(id: string, command: readonly string[]): Promise<string> {
  const client = (await containerEngine()).container;
  const { exitCode, output } = await client.exec(client.getById(id), [...command]);
  if (exitCode === 0) return output;
  throw new Error(`${command.join(' ')} ended with ${exitCode}: ${output.trim()}`);
}

/** The faults of {@link Broker} on a container; `ready` resolves once a client gets an answer. */
export class ContainerFaults {
  readonly owned = true;
  readonly #id: string;
  readonly #ready: () => Promise<void>;
  readonly #removable: boolean;

  constructor(id: string, ready: () => Promise<void>, removable: boolean) {
    this.#id = id;
    this.#ready = ready;
    this.#removable = removable;
  }

  async stop(): Promise<void> {
    await (await this.#container()).stop({ t: 10 });
  }

  async start(): Promise<void> {
    await (await this.#container()).start();
    await this.#ready();
  }

  async pause(): Promise<void> {
    await (await this.#container()).pause();
  }

  async unpause(): Promise<void> {
    await (await this.#container()).unpause();
  }

  async kill(): Promise<void> {
    const container = await this.#container();
    await container.kill({ signal: 'SIGKILL' });
    await container.wait({ condition: 'not-running' });
  }

  async remove(): Promise<void> {
    if (!this.#removable) return;
    await (await this.#container()).remove({ force: true, v: true }).catch(ignoreAbsent);
  }

  async #container() {
    return (await containerEngine()).container.getById(this.#id);
  }
}

/** Stands in for the faults of a broker whose address came from outside. */
export class NoFaults {
  readonly owned = false;
  readonly #variable: string;

  constructor(variable: string) {
    this.#variable = variable;
  }

  stop = (): Promise<void> => this.#refuse();
  start = (): Promise<void> => this.#refuse();
  pause = (): Promise<void> => this.#refuse();
  unpause = (): Promise<void> => this.#refuse();
  kill = (): Promise<void> => this.#refuse();
  remove = async (): Promise<void> => {};

  async #refuse(): Promise<never> {
    throw faultsNeedContainer(this.#variable);
  }
}

export function faultsNeedContainer(variable: string): BrokerUnavailable {
  return new BrokerUnavailable(
    `Faults need a container of their own, but ${variable} gives a broker from outside.`,
    { byDesign: true },
  );
}

async function distinctPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
