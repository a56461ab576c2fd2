/** Entry `@ackord/core/driver`: what adapter authors need. */
export type { Capabilities, Delay } from './driver/capabilities.ts';
export type * from './driver/driver.ts';
export type * from './driver/topology.ts';
export type { Clock } from './time/clock.ts';
export { systemClock } from './time/clock.ts';
