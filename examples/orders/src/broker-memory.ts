/** The broker of the services. For another broker one line changes: this one. */
export { memoryQueue as broker } from '@ackord/memory';
