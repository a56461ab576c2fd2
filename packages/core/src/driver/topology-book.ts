import type { Driver } from './driver.ts';
import type { Address, Plan, Resource, Source, Target, Topology } from './topology.ts';

/**
 * The bus's topology and its plan. Destinations that are only published to may join later, at
 * their first use; everything else is known before the start.
 */
export class TopologyBook implements Plan {
  readonly #driver: Driver;
  #topology: Topology;
  #plan: Plan;
  #known: Set<string>;

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

  /** Adds a destination; returns the resources that the plan did not have before. */
  learn(destination: string): readonly Resource[] {
    if (this.#known.has(destination)) return [];
    const before = new Set(this.#plan.resources.map(keyOf));
    const { destinations, consumers } = this.#topology;
    this.#topology = { destinations: [...destinations, { name: destination }], consumers };
    this.#plan = this.#driver.plan(this.#topology);
    this.#known.add(destination);
    return this.#plan.resources.filter((resource) => !before.has(keyOf(resource)));
  }
}

const keyOf = ({ kind, name }: Resource): string => `${kind}\0${name}`;
