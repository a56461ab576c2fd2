// The order service with its relay, as a process of its own. Started by `npm run demo -- --broker rabbitmq`.
import { broker } from '../../examples/orders/src/broker-rabbitmq.ts';
import { openPostgres } from '../../examples/orders/src/connect.ts';
import { orderService, placeOrder } from '../../examples/orders/src/order-service.ts';
import { readSetup, serve, tell } from './child-setup.ts';
import { untilPlaced } from './world.ts';

const { rabbitmqUrl, databaseUrl, prefix, retry } = readSetup();
const pool = openPostgres(databaseUrl);
const driver = broker({ url: rabbitmqUrl, prefix, connectionName: 'demo orders' });
const bus = orderService({ pool, broker: driver, retry });

await serve(
  async () => {
    await bus.start();
    return { close: () => bus.close({ timeout: '5s' }).then(() => pool.end()) };
  },
  (message) => {
    if (message.do !== 'place') return;
    const { order } = message;
    untilPlaced(() => placeOrder(pool, bus, order)).then(
      () => tell({ is: 'placed', orderId: order.orderId }),
      (error) => tell({ is: 'placed', orderId: order.orderId, error: String(error) }),
    );
  },
);
