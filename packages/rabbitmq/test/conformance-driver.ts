import type { Driver } from '@ackord/core/driver';
import { type RabbitmqOptions, rabbitmq } from '../src/index.ts';

/** For worker processes: the driver of options that came as JSON. */
export function makeDriver(options: RabbitmqOptions): Driver {
  return rabbitmq(options);
}
