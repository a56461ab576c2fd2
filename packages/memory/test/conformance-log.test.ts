import { loadCases, runConformance } from '@ackord/conformance';
import { memoryLogProfile } from './conformance-log-profile.ts';

/** The in-memory log stands for log brokers to come; random schedules judge the rest of it. */
const CASES = /^(?:S01|D01|B18|B19|B20)/;

const cases = await loadCases();
runConformance(
  memoryLogProfile,
  cases.filter(({ id }) => CASES.test(id)),
);
