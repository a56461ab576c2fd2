import type { Envelope } from '../envelope/envelope.ts';
import { configInvalid, contractUnknownVersion, contractUpcastFailed } from '../errors/create.ts';
import type { Contract, UpcastStep } from './contract.ts';
import { isPromise, validateData } from './validate-data.ts';

/** A message that one of the handlers takes. */
export interface Resolved<H> {
  readonly handler: H;
  readonly contract: Contract;
  /** Upcast to the contract's version and validated. */
  readonly data: unknown;
}

interface Route<H> {
  readonly handler: H;
  readonly contract: Contract;
  /** From the version of the message to that of the contract; mostly none. */
  readonly steps: readonly UpcastStep[];
}

/** Finds the handler of a message by type and schema version. */
export class ContractRegistry<H extends { readonly contract: Contract }> {
  readonly #routes: ReadonlyMap<string, ReadonlyMap<number, Route<H>>>;

  /** @throws MSG_CONFIG_INVALID two handlers for the same type and version. */
  constructor(handlers: readonly H[]) {
    this.#routes = routesOf(handlers);
  }

  /** Destinations that the contracts are published to. */
  get destinations(): readonly string[] {
    const names = new Set<string>();
    for (const versions of this.#routes.values()) {
      for (const { contract } of versions.values()) names.add(contract.destination);
    }
    return [...names];
  }

  /** Where a type is published to; of an unknown type, when the consumer reads one place only. */
  destinationOf(type: string | undefined): string | undefined {
    const versions = type === undefined ? undefined : this.#routes.get(type);
    for (const { contract } of versions?.values() ?? []) return contract.destination;
    const [only, ...others] = this.destinations;
    return others.length === 0 ? only : undefined;
  }

  /** Types that have a handler. */
  get types(): readonly string[] {
    return [...this.#routes.keys()];
  }

  /**
   * The handler and the data for it; undefined when no handler takes the type. A promise only when
   * the schema is asynchronous, else it answers and throws at once.
   *
   * @throws MSG_CONTRACT_UNKNOWN_VERSION the version is newer than every contract, or has no steps.
   * @throws MSG_CONTRACT_UPCAST_FAILED a step threw.
   * @throws MSG_CONTRACT_INVALID_DATA the data does not fit the schema.
   */
  resolve(envelope: Envelope): Resolved<H> | Promise<Resolved<H>> | undefined {
    const versions = this.#routes.get(envelope.type);
    if (versions === undefined) return undefined;
    const route = versions.get(envelope.schemaVersion);
    if (route === undefined) {
      const { type, schemaVersion: version } = envelope;
      const known = [...versions.keys()].sort((a, b) => a - b);
      throw contractUnknownVersion({ type, version, known });
    }
    const { handler, contract, steps } = route;
    const old = steps.length === 0 ? envelope.data : upcast(envelope, steps);
    const data = validateData(contract, old);
    return isPromise(data)
      ? data.then((late) => ({ handler, contract, data: late }))
      : { handler, contract, data };
  }
}

function upcast({ type, schemaVersion, data }: Envelope, steps: readonly UpcastStep[]): unknown {
  let current: unknown = data;
  let from = schemaVersion;
  for (const step of steps) {
    try {
      current = step(current);
    } catch (cause) {
      throw contractUpcastFailed({ type, from, to: from + 1, cause });
    }
    from++;
  }
  return current;
}

/** An own contract for a version goes first; else the nearest newer one that has the steps. */
function routesOf<H extends { readonly contract: Contract }>(
  handlers: readonly H[],
): Map<string, Map<number, Route<H>>> {
  const routes = new Map<string, Map<number, Route<H>>>();
  for (const handler of handlers) {
    const { contract } = handler;
    const versions = routes.get(contract.type) ?? new Map<number, Route<H>>();
    routes.set(contract.type, versions);
    if (versions.has(contract.version)) throw twice(contract);
    versions.set(contract.version, { handler, contract, steps: [] });
  }
  const ascending = [...handlers].sort((a, b) => a.contract.version - b.contract.version);
  for (const handler of ascending) addOlder(handler, routes.get(handler.contract.type));
  return routes;
}

function addOlder<H extends { readonly contract: Contract }>(
  handler: H,
  versions: Map<number, Route<H>> | undefined,
): void {
  const { contract } = handler;
  const steps: UpcastStep[] = [];
  for (let from = contract.version - 1; from >= 1; from--) {
    const step = contract.upcast[from];
    if (step === undefined) return;
    steps.unshift(step);
    if (versions?.has(from) === false) versions.set(from, { handler, contract, steps: [...steps] });
  }
}

function twice({ type, version }: Contract): Error {
  return configInvalid({
    option: 'handlers',
    value: `${type} version ${version}`,
    expected: 'one handler for each type and version',
  });
}
