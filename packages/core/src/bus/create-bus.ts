import { Bus } from './bus.ts';
import type { BusOptions } from './bus-options.ts';

/** @throws MSG_CONFIG_INVALID for an unknown option or a value out of bounds. */
export function createBus<Tx>(options: BusOptions<Tx>): Bus<Tx> {
  return new Bus(options);
}
