import { describeBroker, startPostgres, startRabbitmq } from '@ackord/conformance/launchers';
import { expect, test } from 'vitest';
import { isVoid } from '../compare.ts';
import { type Brokers, runMeasurement } from '../run-measurement.ts';
import { MEASUREMENTS } from '../trials/trial.ts';

const tiny = { pairs: 1, seconds: 0.01, progress: () => {} };

describeBroker('the harness on RabbitMQ', startRabbitmq, (rabbit) => {
  describeBroker('and PostgreSQL', startPostgres, (postgres) => {
    test.each(MEASUREMENTS)('measures %s without a lost or doubled message', async (name) => {
      const brokers: Brokers = { rabbitmqUrl: rabbit().url, postgres: postgres() };
      const { pairs, voids } = await runMeasurement(name, brokers, tiny);
      expect(voids).toEqual([]);
      expect(pairs).toHaveLength(1);
      const [round] = pairs;
      expect(Object.values(round ?? {}).filter(isVoid)).toEqual([]);
      expect(round?.ours.userMicros).toBeGreaterThan(0);
      expect(round?.raw.messages).toBe(round?.ours.messages);
    });
  });
});
