/** Entry `@ackord/core/driver`: what adapter authors need. */
export type { Capabilities, Delay } from './driver/capabilities.ts';
export type * from './driver/driver.ts';
export { classifyBy, errorCode, type FaultRow } from './driver/fault-table.ts';
export { headerText } from './driver/header-text.ts';
export {
  createNaming,
  delayLabel,
  escapeName,
  type NameRules,
  type Naming,
  type NamingOptions,
  unescapeName,
} from './driver/naming.ts';
export { type Opening, openFirst } from './driver/opening.ts';
export { type Bounds, OptionReader } from './driver/option-reader.ts';
export { refuseDelay, refuseLongType, refuseSharedNames } from './driver/plan-checks.ts';
export { type OutgoingLimits, refuseOutgoing, rejected } from './driver/refuse-outgoing.ts';
export { SendCall } from './driver/send-call.ts';
export { readServerUrls, type ServerUrl } from './driver/server-urls.ts';
export { type SettleCalls, SettleLedger } from './driver/settle-ledger.ts';
export type * from './driver/topology.ts';
export { whenAborted } from './driver/when-aborted.ts';
export { configInvalid } from './errors/create-config.ts';
export { MessagingError } from './errors/messaging-error.ts';
export type { Clock } from './time/clock.ts';
export { systemClock } from './time/clock.ts';
export type { Duration } from './time/duration.ts';
export { settledWithin } from './time/wait.ts';
