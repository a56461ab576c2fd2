// `node --conditions=@ackord/source tools/guarantees.ts`: writes the guarantee table of the committed verdicts into the README.
import { writeGuarantees } from './steps/guarantees.ts';

writeGuarantees();
