import { hostname } from 'node:os';
import { connect } from 'amqplib';
import { expect, it } from 'vitest';
import {
  brokerImage,
  containerEngine,
  describeBroker,
  type PostgresBroker,
  type RabbitmqBroker,
  startPostgres,
  startRabbitmq,
  sweepLeftovers,
} from '../../src/launchers/index.ts';

describeBroker(
  'postgres launcher',
  () => startPostgres({ isolated: true }),
  (postgres: () => PostgresBroker) => {
    it('gives databases with 200 connections and fsync on', async () => {
      const url = await postgres().createDatabase('launcher "one"');
      expect(url).toContain('/launcher%20%22one%22');
      await postgres().dropDatabase('launcher "one"');
      const [settings] = await postgres().query<{ connections: string; fsync: string }>(
        "select current_setting('max_connections') connections, current_setting('fsync') fsync",
      );
      expect(settings).toEqual({ connections: '200', fsync: 'on' });
    });

    it.each(['stop', 'kill'] as const)(
      'keeps its data and address over %s and start',
      async (fault) => {
        await postgres().query(`create table kept_${fault} (id int)`);
        await postgres()[fault]();
        await expect(postgres().query('select 1')).rejects.toThrow();
        await postgres().start();
        expect(await postgres().query(`select count(*)::int n from kept_${fault}`)).toEqual([
          { n: 0 },
        ]);
      },
    );

    it('answers nothing while it is paused', async () => {
      await postgres().pause();
      await expect(postgres().query('select 1')).rejects.toThrow(/timeout/);
      await postgres().unpause();
      expect(await postgres().query('select 1 n')).toEqual([{ n: 1 }]);
    });
  },
);

describeBroker(
  'sweep',
  () => startPostgres(),
  () => {
    it('removes the container of a dead process and leaves that of a living one', async () => {
      const { dockerode } = (await containerEngine()).container;
      const { name } = await brokerImage('postgres');
      const create = async (pid: number): Promise<string> => {
        const labels = { 'ackord.test': '1', 'ackord.run': `${hostname()}:${pid}` };
        return (await dockerode.createContainer({ Image: name, Cmd: ['true'], Labels: labels })).id;
      };
      // Over the largest process id that Linux gives.
      const dead = await create(4_194_305);
      const alive = await create(process.pid);

      await sweepLeftovers();

      await expect(dockerode.getContainer(dead).inspect()).rejects.toThrow(/no such container/i);
      await expect(dockerode.getContainer(alive).inspect()).resolves.toBeDefined();
      await dockerode.getContainer(alive).remove();
    });
  },
);

describeBroker(
  'rabbitmq launcher',
  () => startRabbitmq({ isolated: true }),
  (rabbitmq: () => RabbitmqBroker) => {
    it('keeps a quorum queue and its message over stop and start', async () => {
      const connection = await connect(rabbitmq().url, { timeout: 3_000 });
      connection.on('error', () => {});
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue('kept', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      channel.sendToQueue('kept', Buffer.from('1'), { persistent: true });
      await channel.waitForConfirms();
      await connection.close();

      await rabbitmq().stop();
      await expect(connect(rabbitmq().url, { timeout: 3_000 })).rejects.toThrow();
      await rabbitmq().start();

      const again = await connect(rabbitmq().url, { timeout: 3_000 });
      const reader = await again.createChannel();
      const message = await reader.get('kept', { noAck: true });
      expect(message).toMatchObject({ content: Buffer.from('1') });
      await again.close();
      await rabbitmq().management.deleteQueue('kept');
    });

    it('creates users whose missing rights are refused', async () => {
      const url = await rabbitmq().management.createUser('limited', 'a/b', {
        configure: '',
        write: '.*',
        read: '.*',
      });
      const connection = await connect(url, { timeout: 3_000 });
      connection.on('error', () => {});
      const channel = await connection.createChannel();
      channel.on('error', () => {});
      await expect(channel.assertQueue('refused')).rejects.toThrow(/ACCESS_REFUSED/);
      await connection.close();
      await rabbitmq().management.deleteUser('limited');
    });

    it('closes connections as an operator does', async () => {
      const connection = await connect(rabbitmq().url, {
        timeout: 3_000,
        clientProperties: { connection_name: 'to be closed' },
      });
      const closed = new Promise((resolve) => connection.once('close', resolve));
      connection.on('error', () => {});
      await expect
        .poll(
          () =>
            rabbitmq().management.closeConnections((c) => c.user_provided_name === 'to be closed'),
          {
            timeout: 10_000,
          },
        )
        .toBe(1);
      await closed;
    });

    it('runs rabbitmqctl inside', async () => {
      expect(await rabbitmq().ctl('list_vhosts', '--no-table-headers')).toContain('/');
    });
  },
);
