import type { Driver } from './driver.ts';
import type { Address, Plan, Resource, Source, Target, Topology } from './topology.ts';

/**
 * The bus's topology and its plan. Destinations that are only published to may join at their first
 * use, whoever asks first; everything else is known before the start.
 */
export class TopologyBook implements Plan {
  readonly #driver: Driver;
  #topology: Topology;
  #plan: Plan;
  #known: Set<string>;
  /** Joined by their first use, with what each added to the plan. */
  readonly #late = new Map<string, readonly Resource[]>();

  constructor(driver: Driver, topology: Topology) {
    this.#driver = driver;
    this.#topology = topology;
    this.#plan = driver.plan(topology);
    this.#known = new Set(topology.destinations.map(({ name }) => name));
  }

  get topology(): Topology {
    return this.#topology;
  }

  get resources(): readonly Resource[] {
    return this.#plan.resources;
  }

  address(target: Target): readonly Address[] {
    if (target.at === 'destination') this.learn(target.name);
    return this.#plan.address(target);
  }

  sources(consumer: string): readonly Source[] {
    return this.#plan.sources(consumer);
  }

  knows(destination: string): boolean {
    return this.#known.has(destination);
  }

  /** Destinations that joined by their first use. */
  get late(): ReadonlyMap<string, readonly Resource[]> {
    return this.#late;
  }

  /** Before the start: consumers may be declared after a first publish. What joined stays. */
  declare(topology: Topology): void {
    const known = new Set(topology.destinations.map(({ name }) => name));
    const joined = [...this.#late.keys()].filter((name) => !known.has(name));
    const destinations = [...topology.destinations, ...joined.map((name) => ({ name }))];
    this.#topology = { destinations, consumers: topology.consumers };
    this.#plan = this.#driver.plan(this.#topology);
    this.#known = new Set(destinations.map(({ name }) => name));
  }

  /** Adds a destination that is not known yet. */
  learn(destination: string): void {
    if (this.#known.has(destination)) return;
    const before = new Set(this.#plan.resources.map(keyOf));
    const { destinations, consumers } = this.#topology;
    this.#topology = { destinations: [...destinations, { name: destination }], consumers };
    this.#plan = this.#driver.plan(this.#topology);
    this.#known.add(destination);
    const added = this.#plan.resources.filter((resource) => !before.has(keyOf(resource)));
    this.#late.set(destination, added);
  }
}

const keyOf = ({ kind, name }: Resource): string => `${kind}\0${name}`;
