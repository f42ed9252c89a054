import page from "sluice:page";
import { type BrokerOptions, defineBroker } from "@sluice/broker-worker";

/** What a command adds to the bundle of this module. */
interface ReadyBrokerOptions extends Pick<BrokerOptions, "topology" | "consumers"> {
  /** What the broker's lines begin with: Wrangler marks those of the Workers that it bundles itself. */
  readonly mark: string;
}

/**
 * The broker of `sluice dev`, bundled when the package is built: Wrangler runs it as it is. A command adds to the bundle
 * this function, which says what else the broker is made of.
 */
declare function sluiceOptions(): ReadyBrokerOptions;

const { mark, ...options } = sluiceOptions();
for (const method of ["log", "info", "debug"] as const) {
  const print = console[method].bind(console);
  console[method] = (...args: unknown[]) => print(mark, ...args);
}

const broker = defineBroker({ ...options, page });

export const QueueBroker = broker.QueueBroker;
export const Directory = broker.Directory;
export const QueueBinding = broker.QueueBinding;
export default broker.handler;
