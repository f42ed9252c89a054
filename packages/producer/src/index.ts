export * from "./install-producers.ts";
export { type ProducerBroker, QueueProducer, type QueueProducerOptions } from "./queue-producer.ts";
