import { join, resolve } from "node:path";
import { lockData } from "../data-lock.ts";
import { takeEnvFiles } from "../dev/env-files.ts";
import { configFilesOf, type Generation, generate } from "../dev/generation.ts";
import { announce, leave, sessionsFolder } from "../dev/sessions.ts";
import { supervise } from "../dev/supervisor.ts";
import { QueueWaker } from "../dev/wake-queues.ts";
import { watchFiles } from "../dev/watch.ts";
import { type Listening, startWrangler } from "../dev/wrangler-process.ts";
import { chosenEnvironment, wranglerEnvironment } from "../environment.ts";
import type { Plan } from "../generate/plan.ts";
import { findPlaces } from "../places.ts";
import { refuseMissingMain } from "../project/missing-main.ts";
import { recoverData } from "../recover-data.ts";
import { addresses, urlOf } from "../report/addresses.ts";
import { introducer } from "../report/introducer.ts";
import type { Printer } from "../report/printer.ts";

export interface DevOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. The first one owns the port. */
  readonly targets: readonly string[];
  /** Default: the primary Worker's `dev.port`, else 8787, else a free one, as Wrangler chooses. */
  readonly port?: number;
  readonly ip?: string;
  /** Default: `.wrangler/state` beside the primary Worker's configuration, where `wrangler dev` keeps it. */
  readonly persistTo?: string;
  readonly env?: string;
  readonly inspectorPort?: number;
  /** Passed on to `wrangler dev`. */
  readonly wranglerArguments: readonly string[];
}

/**
 * `sluice dev`: runs the user's Workers and the broker in one `wrangler dev`, and generates anew whatever a change of
 * their configurations, or of another `sluice dev`, changes. Resolves to the exit code when Wrangler has ended.
 */
export async function dev(given: DevOptions, printer: Printer): Promise<number> {
  const { files: envFiles, args: ownArguments } = takeEnvFiles(given.wranglerArguments);
  const options = { ...given, wranglerArguments: ownArguments };
  const env = chosenEnvironment(options.env, process.env);
  const session = joinSessions(env);
  const places = await findPlaces("dev", process.cwd());
  const read = () =>
    generate({ targets: options.targets, env, places, purpose: "dev", sessions: session.folder, envFiles });
  const introduce = introducer(printer);
  const waker = new QueueWaker();
  let current = await read();
  refuseMissingMain(current.project.workers);
  const state = stateOf(current.plan, options);
  const free = lockData(state, "sluice dev");
  await recoverData(state, current.project.broker.name, printer);
  let url: string | null = null;

  const adopt = (next: Generation) => {
    current = next;
    session.announce(configFilesOf(next.project));
    watch.set(next.watched);
    introduce(next.project);
  };
  const onListening = (listening: Listening) => {
    url = urlOf(listening, current.project, options.wranglerArguments);
    printer.print(addresses(url, current.project));
    waker.wake(url, current.project.topology);
  };
  let isOver = false;
  const update = async () => {
    const before = wranglerArguments(current.plan, options);
    const next = await read();
    // Often it is our own end, or another's at the same moment, that changed something.
    if (isOver) return;
    adopt(next);
    // Wrangler sees by itself what is in its files, but not that there are other files.
    if (wranglerArguments(current.plan, options).join() !== before.join()) wrangler.restart();
    else if (url !== null) waker.wake(url, current.project.topology);
  };
  let updating = Promise.resolve();
  const watch = watchFiles(() => {
    updating = updating.then(update).catch((error: unknown) => {
      if (isOver) return;
      const message = error instanceof Error ? error.message : error;
      printer.warn(`${message}\nSluice goes on with what it read before.`);
    });
  });

  adopt(current);
  const wrangler = supervise(() => {
    const args = wranglerArguments(current.plan, options);
    return startWrangler({ args, env: wranglerEnvironment(process.env), onListening });
  });
  return wrangler.ended.finally(() => {
    isOver = true;
    free();
    session.leave();
    waker.stop();
    watch.close();
  });
}

/** Makes this process findable by the others, and takes that back when it ends, however it does. */
function joinSessions(env: string) {
  const { pid } = process;
  const folder = sessionsFolder(process.env);
  const startedAtMs = Date.now();
  const announceFiles = (files: readonly string[]) => announce(folder, { pid, startedAtMs, env, files });
  announceFiles([]);
  const leaveFolder = () => leave(folder, pid);
  process.once("exit", leaveFolder);
  return { folder, announce: announceFiles, leave: leaveFolder };
}

/** Absolute path of the folder that everything is kept in. */
function stateOf({ workers, broker }: Plan, { persistTo }: DevOptions): string {
  const [primary = broker] = workers;
  return resolve(persistTo ?? join(primary.userDirectory, ".wrangler/state"));
}

function wranglerArguments(plan: Plan, options: DevOptions): string[] {
  const { workers, broker } = plan;
  return [
    "dev",
    ...[...workers, broker].flatMap(({ configFile }) => ["--config", configFile]),
    ...["--persist-to", stateOf(plan, options)],
    ...(options.port === undefined ? [] : ["--port", `${options.port}`]),
    ...(options.ip === undefined ? [] : ["--ip", options.ip]),
    ...(options.inspectorPort === undefined ? [] : ["--inspector-port", `${options.inspectorPort}`]),
    ...options.wranglerArguments,
  ];
}
