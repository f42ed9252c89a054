import { dirname, join } from "node:path";
import type { HeldClock } from "@sluice/broker/held-clock";
import type { Plan } from "@sluice/project/generate/plan";
import { CLOCK_BEHIND_VARIABLE, LAST_END_VARIABLE, STACKS_VARIABLE } from "@sluice/project/names";
import { wranglerIn } from "@sluice/project/wrangler/run-wrangler";
import { lastEndText } from "@sluice/protocol";
import { callBroker } from "../broker/call-broker.ts";
import { fetchHere } from "../broker/fetch-here.ts";
import { RESOURCES_FOLDER } from "../data/data-lock.ts";
import type { End } from "../data/planned-end.ts";
import { HostService } from "../http/host-service.ts";
import type { Ingress } from "../http/ingress.ts";
import { refusePortInUse } from "../http/port-in-use.ts";
import type { ServerLog } from "../report/server-log.ts";
import { ownSources } from "../runtime-modules.ts";
import { wranglerEnvironment } from "../settings/environment.ts";
import { stackNamer } from "../stacks/named-stack.ts";
import { withoutOwnFrames } from "../stacks/own-frames.ts";
import { sourceFinder, stackFrameMapper } from "../stacks/stack-frames.ts";
import { endText, silentText } from "../watchdog/end-text.ts";
import { readDeliveries, workersIn } from "../watchdog/in-delivery.ts";
import { type KeptRunning, keepRunning, type RuntimeHost } from "../watchdog/keep-running.ts";
import { answersWithin, SILENT_AT_END_MS_MAX } from "../watchdog/pulse.ts";
import { silentMsMaxOf } from "../watchdog/silent-ms-max.ts";
import { judge, NO_SUSPICION } from "../watchdog/suspects.ts";
import { bundleWorker } from "./bundle.ts";
import { startCronTriggers } from "./cron-triggers.ts";
import { startProxy } from "./proxy.ts";
import { servedWorkers } from "./worker-options.ts";
import { startWorkerd, type Workerd } from "./workerd-process.ts";

interface WorkerdRun {
  readonly host: string;
  readonly port: number;
  /** `null` for none. */
  readonly inspectorPort: number | null;
  /** The data folder. */
  readonly state: string;
  /** Variables of the broker. */
  readonly vars: Readonly<Record<string, unknown>>;
  readonly lastEnd: End;
  /** Clock that deadlines are measured by. Each workerd starts with its time. */
  readonly clock: HeldClock;
  /** Called after the checks that can refuse a start, before each start of workerd. */
  starting(): void;
  readonly log: ServerLog;
}

/** Workers and their broker that run on workerd, with the ingress before them. */
interface RunningOnWorkerd {
  readonly process: KeptRunning<Workerd>;
  readonly ingress: Ingress;
  /** URL of the broker's Worker itself, without a slash at its end; `null` while none runs. */
  readonly brokerUrl: string | null;
  /** Whether workerd answers. If it does not, a handler may hang. */
  answers(): Promise<boolean>;
}

/**
 * Bundles the Workers, keeps a workerd running with them, and listens in front of it.
 *
 * @throws CliError for Workers that cannot run, and for a port in use.
 */
export async function runOnWorkerd(plan: Plan, options: WorkerdRun): Promise<RunningOnWorkerd> {
  const { host, port, inspectorPort, lastEnd, log } = options;
  // workerd does not report a port in use, and Miniflare would wait for ever.
  if (inspectorPort !== null) {
    await refusePortInUse({ host: "127.0.0.1", port: inspectorPort, option: "--inspector-port" });
  }
  const runtime = await hostOf(plan, options);
  const kept = await keepRunning(runtime, { kind: lastEnd });
  try {
    const ingress = await startProxy({ host, port, workerd: () => kept.current?.ports.http ?? null });
    const answers = async () => {
      const { current } = kept;
      return (
        current !== null &&
        (await answersWithin((signal) => runtime.ping(current, signal), SILENT_AT_END_MS_MAX))
      );
    };
    const triggers = startCronTriggers(
      plan.workers,
      () => kept.current,
      (text) => log.warn(text),
    );
    void kept.ended.finally(() => triggers.stop());
    return {
      process: kept,
      ingress,
      get brokerUrl() {
        return kept.current === null ? null : `http://127.0.0.1:${kept.current.ports.broker}`;
      },
      answers,
    };
  } catch (error) {
    kept.kill("SIGKILL");
    throw error;
  }
}

/** Bundles Workers as for a deployment, in one process that loads Wrangler once for all of them. */
async function bundled(plan: Plan, vars: WorkerdRun["vars"]) {
  const wrangler = wranglerIn(process.cwd(), wranglerEnvironment(process.env));
  try {
    return await servedWorkers(plan, vars, (worker) => bundleWorker(worker, wrangler));
  } finally {
    wrangler[Symbol.dispose]();
  }
}

async function hostOf(plan: Plan, options: WorkerdRun): Promise<RuntimeHost<Workerd>> {
  const { workers: userWorkers, broker } = plan;
  const { inspectorPort, state, clock, vars, log } = options;
  const { workers, maps } = await bundled(plan, vars);
  const silentMsMax = silentMsMaxOf(userWorkers);
  const mapped = stackFrameMapper(maps);
  const own = [ownSources(), dirname(broker.directory)];
  const rewrite = (text: string) => withoutOwnFrames(mapped(text), own);
  const stacks = new HostService(stackNamer(sourceFinder(maps), process.cwd()));
  await stacks.listening();
  // Files of this process and of workerd may be read by this user only.
  process.umask(0o077);
  let suspicion = NO_SUSPICION;
  return {
    start: (lastEnd) => {
      options.starting();
      const variables = {
        [LAST_END_VARIABLE]: lastEndText(lastEnd),
        [CLOCK_BEHIND_VARIABLE]: String(clock.behindMs),
        [STACKS_VARIABLE]: stacks.url,
      };
      const begun = workers.map((worker) =>
        worker.name === broker.name ? { ...worker, bindings: { ...worker.bindings, ...variables } } : worker,
      );
      const resources = join(state, RESOURCES_FOLDER);
      return startWorkerd({ workers: begun, broker: broker.name, resources, inspectorPort, rewrite, log });
    },
    ping: ({ ports }, signal) =>
      callBroker(`http://127.0.0.1:${ports.broker}`, { path: "/", signal }, fetchHere),
    silentMsMax,
    isOnlyReported: inspectorPort !== null,
    reportSilent: (ms, isStarting) => log.warn(silentText(ms, isStarting, inspectorPort !== null)),
    judgeEnd: async (how, ranMs) => {
      const read = await readDeliveries(state, broker.name);
      const judgement = judge(suspicion, { workers: workersIn(read), ranMs });
      ({ suspicion } = judgement);
      log.warn(endText(how, judgement.end, read));
      return judgement.end;
    },
    reportPause: (ms, failure) => {
      const why = failure === null ? "" : `: ${failure instanceof Error ? failure.message : failure}`;
      log.warn(`workerd is started again in ${ms / 1_000} s${why}`);
    },
  };
}
