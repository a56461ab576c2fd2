import type { ConsumerSettings } from '../consume/consumer-options.ts';
import type { Topology } from '../driver/topology.ts';

interface Subscribed {
  readonly settings: ConsumerSettings;
  readonly registry: {
    readonly types: readonly string[];
    readonly destinations: readonly string[];
  };
}

/** What the declared consumers and destinations need of the broker. */
export function topologyOf(
  consumers: readonly Subscribed[],
  destinations: readonly string[],
): Topology {
  const names = new Set(destinations);
  for (const { registry } of consumers) for (const name of registry.destinations) names.add(name);
  return {
    destinations: [...names].map((name) => ({
      name,
      subscribers: consumers
        .filter(({ registry }) => registry.destinations.includes(name))
        .map(({ settings }) => settings.name),
    })),
    consumers: consumers.map(({ settings, registry }) => ({
      name: settings.name,
      from: registry.destinations,
      // A strict consumer must see the types that it does not handle.
      types: settings.unhandled === 'park' ? [] : registry.types,
      delaysMs: [...new Set(settings.retry.delaysMs)].sort((a, b) => a - b),
    })),
  };
}
