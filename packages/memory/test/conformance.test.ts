import { loadCases, runConformance } from '@ackord/conformance';
import { memoryQueueProfile } from './conformance-profile.ts';

runConformance(memoryQueueProfile, await loadCases());
