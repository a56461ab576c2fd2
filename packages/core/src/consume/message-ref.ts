import type { MessageRef } from '../observe/events.ts';
import type { ConsumerSettings } from './consumer-options.ts';
import type { Judged } from './incoming.ts';

/** How events name a message. */
export function refOf(settings: ConsumerSettings, judged: Judged): MessageRef {
  const type = judged.envelope?.type ?? judged.incoming.native.type;
  return {
    consumer: settings.name,
    messageId: judged.id,
    attempt: judged.attempt,
    ...(type !== undefined && { type }),
  };
}
