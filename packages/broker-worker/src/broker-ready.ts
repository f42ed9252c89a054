import page from "sluice:page";
import { type BrokerOptions, defineBroker } from "@sluice/broker-worker";

export interface ReadyBrokerOptions extends Pick<BrokerOptions, "topology" | "consumers"> {
  /** Beginning of each line of the broker's, as Wrangler marks the lines of the Workers that it bundles itself. */
  readonly mark: string;
}

/** The broker of `sluice dev`: it is bundled when the package is built, and Wrangler runs it as it is. */
export function readyBroker({ mark, ...options }: ReadyBrokerOptions) {
  for (const method of ["log", "info", "debug"] as const) {
    const print = console[method].bind(console);
    console[method] = (...args: unknown[]) => print(mark, ...args);
  }
  return defineBroker({ ...options, page });
}
