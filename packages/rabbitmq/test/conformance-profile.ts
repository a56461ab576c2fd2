import { type BrokerRun, type CaseBroker, type Profile, TcpProxy } from '@ackord/conformance';
import { type RabbitmqBroker, startRabbitmq } from '@ackord/conformance/launchers';
import { makeDriver } from './conformance-driver.ts';
import { RabbitmqRaw } from './conformance-raw.ts';

const WORKER_MODULE = new URL('./conformance-driver.ts', import.meta.url).href;

/** Profile `rabbitmq/ttl-buckets`: real processes, effects in PostgreSQL. */
export const ttlBucketsProfile: Profile = {
  name: 'rabbitmq/ttl-buckets',
  database: 'postgres',
  delaysMs: [200, 1_000, 3_000],
  kill: 'process',
  lacks: {
    log: 'a queue settles each message by itself: there is no position to commit',
  },
  start: async ({ isolated }): Promise<BrokerRun> => {
    const broker = await startRabbitmq({ isolated });
    return {
      open: (namespace) => openCase(broker, namespace, isolated),
      close: async () => {
        if (isolated) await broker.remove();
      },
    };
  },
};

async function openCase(
  broker: RabbitmqBroker,
  namespace: string,
  isolated: boolean,
): Promise<CaseBroker> {
  const proxy = await TcpProxy.listen(broker.url);
  const raw = new RabbitmqRaw(broker, namespace);
  const options = { url: proxy.url(broker.url), connectionName: namespace };
  const fault = (run: () => Promise<void>) => async (): Promise<void> => {
    if (!isolated) throw new Error("A case that stops the broker says needs: ['server'].");
    await run();
  };
  return {
    // Buses of the suite's own process are never killed: worker processes are.
    driver: (as) => ({
      driver: makeDriver(as === 'intruder' ? { ...options, url: intruder(options.url) } : options),
      kill: () => {},
    }),
    worker: { module: WORKER_MODULE, export: 'makeDriver', options },
    raw,
    line: {
      hold: () => proxy.hold('down'),
      release: () => {
        proxy.release();
        proxy.restore();
      },
      cut: () => proxy.cut(),
      refuse: () => proxy.refuse(),
      accept: () => proxy.accept(),
      silence: () => proxy.blackhole(),
    },
    server: {
      stop: fault(() => broker.stop()),
      start: fault(() => broker.start()),
      kill: fault(() => broker.kill()),
      pause: fault(() => broker.pause()),
      unpause: fault(() => broker.unpause()),
    },
    close: async () => {
      await proxy.close();
      await raw.close();
    },
  };
}

/** The same user with a password that is wrong. */
function intruder(url: string): string {
  const wrong = new URL(url);
  wrong.password = 'let-me-in';
  return wrong.href;
}
