import { loadCases, runConformance } from '@ackord/conformance';
import { ttlBucketsProfile } from './conformance-profile.ts';

runConformance(ttlBucketsProfile, await loadCases());
