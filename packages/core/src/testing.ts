/** Entry `@ackord/core/testing`: time and chance under the control of a test. */
export { ManualClock } from './time/manual-clock.ts';
export { seededRandom } from './time/seeded-random.ts';
