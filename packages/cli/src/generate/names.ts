/** Names that generated configurations and entries agree on. */

/** Durable Object binding of every producing Worker to the broker. */
export const QUEUES_BINDING = "__SLUICE_QUEUES";
/** Service binding of the primary Worker to the broker, in `sluice dev` only. */
export const BROKER_BINDING = "__SLUICE_BROKER";
/** Binding of the primary Worker to its static assets where its own configuration names none, in `sluice dev` only. */
export const ASSETS_BINDING = "__SLUICE_ASSETS";
/** The bindings that the user's code must not come across. */
export const HIDDEN_BINDINGS: readonly string[] = [QUEUES_BINDING, BROKER_BINDING, ASSETS_BINDING];

/** Entrypoint that a consuming Worker's generated entry adds. */
export const CONSUMER_ENTRYPOINT = "SluiceQueueConsumer";
/** The broker's Durable Object class, and the binding by which the broker itself reaches it. */
export const BROKER_CLASS = "QueueBroker";
export const BROKER_QUEUES_BINDING = "SLUICE_QUEUES";
/** What the broker is called unless its own configuration says otherwise. */
export const BROKER_NAME = "sluice";

/** Module specifier behind which `alias` hides the user's main module where a path would not do. */
export const USER_MAIN_ALIAS = "sluice:user-main";
