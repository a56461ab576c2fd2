// The process of one trial: reads its order from the arguments, answers with its figures.
import { consume } from './consume.ts';
import { core } from './core.ts';
import { inbox } from './inbox.ts';
import { publish } from './publish.ts';
import type { Measurement, Trial, TrialOrder } from './trial.ts';

const TRIALS: Readonly<Record<Measurement, Trial>> = { publish, consume, inbox, core };

const order = JSON.parse(process.argv[2] ?? '{}') as TrialOrder;
const figures = await TRIALS[order.measurement](order);
process.send?.(figures);
process.disconnect?.();
