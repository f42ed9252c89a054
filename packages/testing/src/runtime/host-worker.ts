import type { V4WorkerOptions } from "miniflare";
import type { QueueRuntimeOptions, Vars } from "../api.ts";
import { DATES_BINDING, QUIET_VARIABLE, READ_VARIABLE } from "../wire.ts";
import { CONTROL_ENTRYPOINT, controlled } from "./controlled-worker.ts";
import type { OpenCalls } from "./open-calls.ts";
import { outboundHandler, throwingThere } from "./outbound.ts";
import type { Prepared } from "./prepare.ts";
import { pushHandler } from "./push.ts";
import { plainModule } from "./worker-modules.ts";

/** Name of the Worker between a test's process and the user's Workers. */
export const HOST_WORKER = "sluice-testing-host";
const SOCKET = { host: "127.0.0.1", port: 0 };

/**
 * Surrounds the Workers of a runtime with a test's variables, its answers to their requests, and the time of their
 * `Date`.
 *
 * @throws TypeError for a function for a queue without an endpoint.
 */
export function surrounded(
  { project, workers }: Pick<Prepared, "project" | "workers">,
  options: QueueRuntimeOptions,
  startMs: number,
  calls: OpenCalls,
): V4WorkerOptions[] {
  const { outbound, push = {}, date, log } = options;
  const isClockFollowed = date === "clock";
  const others = outboundHandler(outbound);
  const endpoints = pushHandler(push, project, others, calls);
  const names = project.workers.map(({ name }) => name);
  const changed = workers.map((worker): V4WorkerOptions => {
    const i = names.indexOf(worker.name ?? "");
    const { main } = project.workers[i] ?? {};
    if (main !== undefined) {
      const control = {
        // The first Worker has a default export of ours.
        hasDefault: i === 0 || main.kind !== "named-only",
        clockStartMs: isClockFollowed ? startMs : null,
      };
      return {
        ...controlled(worker, control),
        bindings: { ...worker.bindings, ...(varsOf(options, i) as NonNullable<V4WorkerOptions["bindings"]>) },
        ...(outbound === "network" ? {} : { outboundService: { name: HOST_WORKER, entrypoint: "Outbound" } }),
      };
    }
    if (worker.name !== project.broker.name) return worker;
    const dates = { [DATES_BINDING]: { name: HOST_WORKER, entrypoint: "Dates" } };
    return {
      ...worker,
      bindings: {
        ...worker.bindings,
        [READ_VARIABLE]: true,
        ...(log === undefined ? { [QUIET_VARIABLE]: true } : {}),
      },
      serviceBindings: {
        ...worker.serviceBindings,
        SLUICE_PUBLIC_HOSTS: endpoints,
        SLUICE_LISTED_HOSTS: endpoints,
        ...(isClockFollowed ? dates : {}),
      },
    };
  });
  const host: V4WorkerOptions = {
    name: HOST_WORKER,
    modules: [{ type: "ESModule", path: "host.js", contents: plainModule("host.js") }],
    // A date that the workerd of the oldest Wrangler knows.
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["unsafe_module"],
    unsafeDirectSockets: [SOCKET],
    bindings: { START_MS: startMs, IS_CLOCK_FOLLOWED: isClockFollowed },
    serviceBindings: {
      OUTBOUND: throwingThere(others, calls),
      ...Object.fromEntries(
        names.map((name) => [`worker:${name}`, { name, entrypoint: CONTROL_ENTRYPOINT }]),
      ),
    },
  };
  return [...changed, host];
}

/** Returns the variables of the n-th Worker. Its own ones override the runtime's. */
function varsOf({ vars = {}, workers }: Pick<QueueRuntimeOptions, "vars" | "workers">, n: number): Vars {
  const worker = workers[n];
  return { ...vars, ...(typeof worker === "object" ? worker.vars : {}) };
}
