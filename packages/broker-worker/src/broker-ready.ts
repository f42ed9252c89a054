import page from "sluice:page";
import { type BrokerOptions, defineBroker } from "@sluice/broker-worker";

interface ReadyBrokerOptions extends Pick<BrokerOptions, "topology" | "consumers"> {
  /** Beginning of the broker's log lines, as Wrangler marks the lines of Workers that it bundles. */
  readonly mark: string;
}

/** Makes the broker of `sluice dev`, which is bundled with the package and run by Wrangler unchanged. */
export function readyBroker({ mark, ...options }: ReadyBrokerOptions) {
  for (const method of ["log", "info", "debug"] as const) {
    const print = console[method].bind(console);
    console[method] = (...args: unknown[]) => print(mark, ...args);
  }
  return defineBroker({ ...options, page });
}
