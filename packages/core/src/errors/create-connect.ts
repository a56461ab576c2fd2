import { afterColon, describeCause } from './describe-cause.ts';
import { describeAddress } from './describe-value.ts';
import { MessagingError } from './messaging-error.ts';

export function connectUnreachable(at: {
  readonly broker: string;
  readonly address?: string;
  /** How long it was tried. */
  readonly waitedMs?: number;
  readonly cause?: unknown;
}): MessagingError {
  const within = at.waitedMs === undefined ? '' : ` within ${at.waitedMs} ms`;
  return new MessagingError(
    'MSG_CONNECT_UNREACHABLE',
    `${at.broker}${addressOf(at)} could not be reached${within}${afterColon(describeCause(at.cause))}. ` +
      'Check address, network and that the broker runs.',
    {
      broker: at.broker,
      details: { ...detailsOf(at), waitedMs: at.waitedMs },
      cause: at.cause,
    },
  );
}

export function connectAuth(at: {
  readonly broker: string;
  readonly address?: string;
  readonly cause?: unknown;
}): MessagingError {
  return new MessagingError(
    'MSG_CONNECT_AUTH',
    `${at.broker}${addressOf(at)} refused the credentials${afterColon(describeCause(at.cause))}. ` +
      'Correct user and secret; the same ones are not tried again.',
    { broker: at.broker, details: detailsOf(at), cause: at.cause },
  );
}

/** `action` completes "is not allowed to …". */
export function connectForbidden(at: {
  readonly broker: string;
  readonly action?: string;
  readonly cause?: unknown;
}): MessagingError {
  const action = at.action ?? 'use a resource of the plan';
  return new MessagingError(
    'MSG_CONNECT_FORBIDDEN',
    `The user of ${at.broker} is not allowed to ${action}${afterColon(describeCause(at.cause))}. ` +
      'Grant the right, or create the topology beforehand and start with topology: "verify".',
    { broker: at.broker, details: { action }, cause: at.cause },
  );
}

export function connectTopologyMissing(at: {
  readonly broker: string;
  readonly resources: readonly string[];
  /** Topology mode of the bus. */
  readonly mode?: string;
  readonly cause?: unknown;
}): MessagingError {
  const { broker, resources, mode } = at;
  const verb = resources.length === 1 ? 'does' : 'do';
  const under = mode === undefined ? '' : ` (topology: "${mode}")`;
  return new MessagingError(
    'MSG_CONNECT_TOPOLOGY_MISSING',
    `${resources.join(', ')} ${verb} not exist on ${broker}${under}. ` +
      'Create what is missing, or start with topology: "create".',
    { broker, details: { resources, mode }, cause: at.cause },
  );
}

export function connectTopologyDrift(at: {
  readonly broker: string;
  readonly drift: readonly {
    readonly resource: string;
    readonly expected: string;
    readonly actual: string | undefined;
  }[];
  readonly cause?: unknown;
}): MessagingError {
  const lines = at.drift.map(
    ({ resource, expected, actual }) =>
      `${resource}: expected ${expected}, found ${actual ?? 'what the broker does not report'}`,
  );
  return new MessagingError(
    'MSG_CONNECT_TOPOLOGY_DRIFT',
    `${at.broker} has ${at.drift.length} resources with other settings than planned: ` +
      `${lines.join('; ')}. Change them there, or change the options of the bus.`,
    { broker: at.broker, details: { drift: at.drift }, cause: at.cause },
  );
}

export function connectClosed(at: {
  readonly broker: string;
  readonly reason?: string;
  readonly cause?: unknown;
}): MessagingError {
  const reason = at.reason ? `: ${at.reason}` : '';
  return new MessagingError(
    'MSG_CONNECT_CLOSED',
    `The connection to ${at.broker} was closed${reason}. ` +
      'A new one is opened after a back-off unless the bus is closing.',
    { broker: at.broker, details: { reason: at.reason }, cause: at.cause },
  );
}

function addressOf(at: { readonly address?: string }): string {
  return at.address === undefined ? '' : ` at ${describeAddress(at.address)}`;
}

function detailsOf(at: { readonly address?: string }): Readonly<Record<string, unknown>> {
  return at.address === undefined ? {} : { address: describeAddress(at.address) };
}
