/** By progress, not by connection alone. */
export interface Health {
  readonly status: 'healthy' | 'degraded' | 'unhealthy';
  /** One line per thing that is wrong; empty when healthy. */
  readonly reasons: readonly string[];
}

export interface HealthFacts {
  readonly state: string;
  readonly connected: boolean;
  readonly consumers: readonly { readonly name: string; readonly reading: boolean }[];
}

export function healthOf({ state, connected, consumers }: HealthFacts): Health {
  if (state !== 'running') return { status: 'unhealthy', reasons: [`the bus is ${state}`] };
  if (!connected) return { status: 'unhealthy', reasons: ['no connection to the broker'] };
  const reasons = consumers
    .filter(({ reading }) => !reading)
    .map(({ name }) => `consumer ${name} does not read all of its sources`);
  return { status: reasons.length === 0 ? 'healthy' : 'degraded', reasons };
}
