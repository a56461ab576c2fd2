import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { eventually } from '@ackord/conformance';
import { describeBroker, type RabbitmqBroker, startRabbitmq } from '@ackord/conformance/launchers';
import {
  type Bus,
  type BusEvent,
  type BusOptions,
  createBus,
  event,
  MessagingError,
  on,
} from '@ackord/core';
import { expect, it } from 'vitest';
import { rabbitmq } from '../src/index.ts';
import { removeNames } from './remove-names.ts';

const SECRET = 'hidden-5e1f';
/** Validation is not the point here. */
const ANYTHING = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value: unknown) => ({ value: value as { readonly pad: string } }),
  },
} as const;
const NO_STORE = { none: 'nothing is applied here' };

type Options = Partial<BusOptions<unknown>> & { readonly url: string; readonly maxBytes?: number };

/** A service with names of its own, as a user would write it. */
class Service {
  readonly prefix = `wrong${randomUUID().slice(0, 8)}`;
  readonly Created = event('order.created', {
    version: 1,
    destination: `${this.prefix}.orders`,
    data: ANYTHING,
  });

  bus({ url, maxBytes, ...options }: Options): Bus<unknown> {
    const broker = rabbitmq({ url, ...(maxBytes !== undefined && { maxMessageBytes: maxBytes }) });
    return createBus({ producer: 'tests', broker, store: NO_STORE, ...options });
  }

  consumer(options: Options): Bus<unknown> {
    const retry = { delays: ['1s'] as const };
    return this.bus(options).consume(`${this.prefix}.reserve`, { retry }, [
      on(this.Created, () => undefined),
    ]);
  }
}

/** Rejections as a user sees them: without secrets, ending with a way out. */
async function refusal(work: Promise<unknown>): Promise<MessagingError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!MessagingError.is(error)) throw new Error(`No refusal: ${String(error)}`);
  expect(`${error.message} ${JSON.stringify(error.details)} ${error.stack}`).not.toContain(SECRET);
  expect(error.message).toMatch(/\.$/);
  return error;
}

function withLogin(url: string, user: string): string {
  const login = new URL(url);
  login.username = user;
  login.password = SECRET;
  return login.href;
}

/** A port of this host where nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const at = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof at === 'object' && at !== null ? at.port : 0;
}

describeBroker('wrong input', startRabbitmq, (broker: () => RabbitmqBroker) => {
  async function limited(
    service: Service,
    rights: { readonly configure: string; readonly write: string; readonly read: string },
    work: (url: string) => Promise<void>,
  ): Promise<void> {
    const { management } = broker();
    const user = `${service.prefix}-user`;
    try {
      await work(await management.createUser(user, SECRET, rights));
    } finally {
      await management.deleteUser(user);
      await removeNames(broker(), service.prefix);
    }
  }

  it('an unreachable broker is named with its address', async () => {
    const port = await freePort();
    const url = withLogin(`amqp://127.0.0.1:${port}`, 'guest');
    const bus = new Service().consumer({ url, connect: { timeout: 300 } });
    const error = await refusal(bus.start());
    expect(error.code).toBe('MSG_CONNECT_UNREACHABLE');
    expect(error.message).toContain(`127.0.0.1:${port}`);
    expect(error.message).toMatch(/within 300 ms: .*Check address, network/);
  });

  it('a host that does not exist is named', async () => {
    const url = withLogin('amqp://rabbit.invalid', 'guest');
    const error = await refusal(new Service().consumer({ url, connect: { timeout: 300 } }).start());
    expect(error.code).toBe('MSG_CONNECT_UNREACHABLE');
    expect(error.message).toContain('rabbit.invalid');
  });

  it('bad credentials are told at once', async () => {
    const startMs = Date.now();
    const url = withLogin(broker().url, 'guest');
    const bus = new Service().consumer({ url });
    const error = await refusal(bus.start());
    expect(error.code).toBe('MSG_CONNECT_AUTH');
    expect(error.message).toMatch(/refused the credentials: .*ACCESS.REFUSED.*Correct user/);
    expect(Date.now() - startMs).toBeLessThan(10_000);
  });

  it('a vhost that does not exist is no matter of time either', async () => {
    const url = `${broker().url.replace(/\/$/, '')}/nowhere`;
    const error = await refusal(new Service().consumer({ url }).start());
    expect(error.code).toBe('MSG_CONNECT_AUTH');
  });

  it('without the right to create, the resource is named', async () => {
    const service = new Service();
    const rights = { configure: '', write: '.*', read: '.*' };
    await limited(service, rights, async (url) => {
      const error = await refusal(service.consumer({ url }).start());
      expect(error.code).toBe('MSG_CONNECT_FORBIDDEN');
      expect(error.message).toContain(`${service.prefix}.orders`);
      expect(error.message).toMatch(/configure access.*Grant the right.*topology: "verify"/);
    });
  });

  it('without the right to read, an event and the health tell which queue is closed', async () => {
    const service = new Service();
    await service
      .consumer({ url: broker().url })
      .start()
      .then((bus) => bus.close());
    const rights = { configure: '.*', write: '.*', read: `${service.prefix}[.]orders` };
    await limited(service, rights, async (url) => {
      const bus = service.consumer({ url, topology: 'assume' });
      const seen: BusEvent[] = [];
      bus.on((each) => seen.push(each));
      await bus.start();
      const fault = await eventually('the fault is told', () =>
        seen.find(({ event: name }) => name === 'intake.fault'),
      );
      const error = await refusal(Promise.reject(Reflect.get(fault ?? {}, 'error')));
      expect(error.code).toBe('MSG_CONSUME_INTAKE');
      expect(error.message).toContain(`${service.prefix}.reserve`);
      expect(error.message).toMatch(/read access to queue.*that the user may read it/);
      expect(fault).toMatchObject({ kind: 'auth' });
      await eventually('the health shows it', () => bus.health().status === 'degraded');
      expect(bus.health().reasons.join()).toContain(`${service.prefix}.reserve`);
      await bus.close();
    });
  });

  it('without the right to write, the publish is refused and the bus goes on', async () => {
    const service = new Service();
    await service
      .consumer({ url: broker().url })
      .start()
      .then((bus) => bus.close());
    const rights = { configure: '.*', write: `.*reserve.*`, read: '.*' };
    await limited(service, rights, async (url) => {
      const bus = service.bus({ url, topology: 'assume' });
      await bus.start();
      const error = await refusal(bus.publish(service.Created({ pad: '' })));
      expect(error.code).toBe('MSG_PUBLISH_AUTH');
      expect(error.message).toContain(`${service.prefix}.orders`);
      expect(error.message).toMatch(/write access.*Grant the user the right/);
      expect(bus.health().status).toBe('healthy');
      await bus.close();
    });
  });

  it('an exchange that is missing under verify is named, and nothing is created', async () => {
    const service = new Service();
    const bus = service.consumer({ url: broker().url, topology: 'verify' });
    const error = await refusal(bus.start());
    expect(error.code).toBe('MSG_CONNECT_TOPOLOGY_MISSING');
    expect(error.message).toMatch(/topology: "verify".*Create what is missing/);
    expect(error.message).toContain(`exchange ${service.prefix}.orders`);
    expect(await removeNames(broker(), service.prefix)).toEqual([]);
  });

  it('a delay over the limit of a bucket is refused before anything is opened', async () => {
    const service = new Service();
    const bus = service.bus({ url: 'amqp://127.0.0.1:1' });
    const retry = { delays: ['50d'] as const };
    const declare = async (): Promise<unknown> =>
      bus.consume(`${service.prefix}.reserve`, { retry }, [on(service.Created, () => undefined)]);
    const error = await refusal(declare());
    expect(error.code).toBe('MSG_CONFIG_DELAY_TOO_LONG');
    expect(error.message).toMatch(/4320000000 ms is over the 4294967295 ms .*Shorten/);
  });

  it('a publish over the limit is refused with both figures, also where the server is stricter', async () => {
    const service = new Service();
    const bus = await service.consumer({ url: broker().url }).start();
    const error = await refusal(bus.publish(service.Created({ pad: 'x'.repeat(16_777_216) })));
    expect(error).toMatchObject({ code: 'MSG_PUBLISH_TOO_LARGE', failure: 'permanent' });
    expect(error.message).toMatch(/1677\d{4} bytes, the limit is 16777216 bytes\. Store/);
    await bus.close();

    const careless = service.bus({ url: broker().url, maxBytes: 100_000_000 });
    await careless.start();
    const refused = await refusal(
      careless.publish(service.Created({ pad: 'x'.repeat(16_777_216) })),
    );
    expect(refused.code).toBe('MSG_PUBLISH_TOO_LARGE');
    expect(refused.message).toMatch(/larger than configured max size.*16777216/);
    await careless.publish(service.Created({ pad: 'after it' }));
    await careless.close();
    await removeNames(broker(), service.prefix);
  });
});
