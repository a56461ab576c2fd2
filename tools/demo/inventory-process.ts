// The inventory as a process of its own. Started by `npm run demo -- --broker rabbitmq`, and killed by it.
import { broker } from '../../examples/orders/src/broker-rabbitmq.ts';
import { openPostgres } from '../../examples/orders/src/connect.ts';
import { inventory } from '../../examples/orders/src/inventory.ts';
import { inventoryWithoutInbox } from '../../examples/orders/src/inventory-without-inbox.ts';
import { readSetup, serve, tell } from './child-setup.ts';
import { seenIn, troubleMaker } from './trouble.ts';

const { rabbitmqUrl, databaseUrl, prefix, retry, plan, killAtCommit } = readSetup();
const pool = openPostgres(databaseUrl);
const bus = (plan.withoutInbox ? inventoryWithoutInbox : inventory)({
  pool,
  broker: broker({ url: rabbitmqUrl, prefix, connectionName: 'demo inventory' }),
  retry,
  // The services share a database here, so that the relay of one sends the rows of both.
  relay: false,
  intercept: troubleMaker({
    plan,
    killAtCommit,
    die: (messageId) => tell({ is: 'at-the-step', messageId }),
    see: (seen) => tell({ is: 'seen', seen }),
  }),
});
bus.on((event) => {
  const seen = seenIn(event);
  if (seen) tell({ is: 'seen', seen });
});

await serve(async () => {
  await bus.start();
  return { close: () => bus.close({ timeout: '5s' }).then(() => pool.end()) };
});
