/**
 * The conformance suite: cases that every profile must pass, judged by the invariants of the spec.
 *
 * **A case** is a file in `cases/` that exports a `ConformanceCase`; it is found by itself:
 *
 * ```ts
 * export const poisonIsParked: ConformanceCase = {
 *   id: 'D11',
 *   title: 'parks a permanent failure at its first attempt',
 *   async run(ctx) {
 *     await ctx.startBus();                                   // standard consumer `reserve`, in this process
 *     const id = await ctx.publish({ script: ['permanent'] }); // run n acts by entry n, the last repeats
 *     const copy = await ctx.parked(id);                      // read by the broker's own client
 *     expect(copy.headers['ackord-park-attempts']).toBe('1');
 *     expect(ctx.history.runs(id)).toHaveLength(1);
 *   },
 * };
 * ```
 *
 * What `ctx` gives (`case-context.ts`):
 * - `startBus(spec?, more?)`: a bus in this process; `spec` (`bus-spec.ts`) has its consumers with
 *   their options and `relay`; `more` has `store: false`, `intercept`, `start: false`. Handlers act by
 *   the script of the message (`contracts.ts`); own ones by `consumers: [{ handlers }]`. Acts `wait`
 *   and `hang` end when `running.gate.open()` is called.
 * - `startProcess({ dieAt | haltAt: step, on?, nth?, ...spec })`: a process that SIGKILLs itself or
 *   stands still at that step; `await process.reached`, `.died` (asserts the signal), `.kill()`.
 *   Where a profile has no processes it is a bus that is abandoned there.
 * - `publish(data?, draftOptions?)` → id, confirmed. `publishFrom(bus, draft, options)` → the error
 *   instead of a throw. `publishMany(bus, drafts)` → outcomes. `publishRaw({ id, body })`. `writeOutbox(bus, drafts, { rollback })`.
 * - `raw`: the broker's own client: `dump`, `ready`, `publish`, `purge`, `remove`, `restore`, `full` at
 *   `{ at: 'source' | 'retry' | 'parking' | 'bucket' | 'destination' }`.
 * - `sql`: effects (no unique key, so that doubles show), inbox, attempts, outbox, reserved, any SQL.
 * - `broker.line`: hold answers, cut, refuse. The publisher of `ctx.publish` goes over it too.
 *   `broker.server` and `database.stop/start` need `needs: ['server' | 'database']`.
 * - `await using reader = await DriverReader.open(ctx)` (`driver-reader.ts`): the source of `reserve`
 *   through a driver without a bus, for settles that no bus makes.
 * - `history`: `runs(id)`, `events(name, id)`, `steps(name, id)`, `note(text)`; printed on failure.
 * - `eventually(what, ask, deadlineMs?)`: the only way to wait. `settled(...ids)`, `parked(id)`,
 *   `remaining()` (closes all buses, then what the broker kept).
 * - `figures['p99 lateness in ms'] = n` for the guarantee table; `limits` to loosen the checker, with a reason.
 *
 * After the case everything is closed and the checker judges I1 to I12, which are the numbers of
 * `docs/explanation/delivery-guarantees.md`. Ids and names are unique to the case; cases run side by side,
 * so nothing may depend on the load. On PGlite a database has **one** connection: while a handler waits in its transaction, no other statement runs, `ctx.sql` included;
 * use `inbox: { none: '…' }` with `effects: false` where several handlers must run at once.
 *
 * **A profile** (`profile.ts`) is about 100 lines in the test folder of its driver, and its test file is:
 *
 * ```ts
 * runConformance(memoryQueueProfile, await loadCases());
 * ```
 */
export type { BusSpec, ConsumerSpec } from './bus-spec.ts';
export type { ConformanceCase, Need } from './case.ts';
export type { CaseContext } from './case-context.ts';
export type { Act, OrderData } from './contracts.ts';
export { eventually } from './eventually.ts';
export { loadCases } from './load-cases.ts';
export type {
  BrokerRun,
  CaseBroker,
  Deviation,
  Line,
  ProcessDriver,
  Profile,
  ServerFaults,
  WorkerDriver,
} from './profile.ts';
export { TcpProxy } from './proxy/tcp-proxy.ts';
export type { Place, RawBroker, RawMessage } from './raw-broker.ts';
export { runConformance } from './run-conformance.ts';
