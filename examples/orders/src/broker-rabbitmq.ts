/** The broker of the services. For another broker one line changes: this one. */
export { rabbitmq as broker } from '@ackord/rabbitmq';
