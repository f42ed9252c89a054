import { dataFolderOf } from "@sluice/local/data/data-folder";
import type { Printer } from "@sluice/local/report/printer";
import { resetData } from "@sluice/local/reset/reset-data";
import { chosenEnvironment } from "@sluice/local/settings/environment";
import { configFileIn } from "@sluice/project/read/broker";
import { readProject } from "@sluice/project/read/project";
import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { plural, size } from "@sluice/protocol/words";
import type { Surroundings } from "../../surroundings.ts";
import { confirm } from "../on-broker.ts";

export interface ResetOptions {
  /** Folders or configuration files of Workers; none stands for the current folder. */
  readonly targets: readonly string[];
  readonly persistTo?: string;
  readonly env?: string;
  /** Ask nothing. */
  readonly force?: boolean;
}

/**
 * `sluice reset`: deletes the local data of a project's broker, after the user has typed the broker's name.
 *
 * @throws DataInUseError while a process uses the data.
 */
export async function reset(
  { targets, persistTo, env, force = false }: ResetOptions,
  printer: Printer,
  surroundings: Surroundings,
): Promise<number> {
  const { cwd } = surroundings;
  takeWranglerOf(
    [cwd, ...targets],
    anyWrangler((text) => printer.warn(text)),
  );
  const project = await readProject({
    targets,
    env: chosenEnvironment(env, surroundings.env),
    workingDirectory: cwd,
    withoutTargets: configFileIn(cwd) === null ? "broker-alone" : "current-folder",
  });
  const { name } = project.broker;
  const folder = dataFolderOf(project, persistTo);
  const isDone = await resetData({
    folder,
    broker: name,
    warn: (line) => printer.warn(line),
    confirm: ({ queues, bytes }) => {
      const which =
        queues.length === 0 ? "all queues" : `${plural(queues.length, "queue")} (${queues.join(", ")})`;
      const what =
        `Deletes ${which} of the broker "${name}" in ${folder}, with all messages, ` +
        `topics, tokens and history: ${size(bytes)}. KV, D1, R2 and Durable Objects of your own stay.`;
      return confirm({ surroundings }, { name, what, force });
    },
  });
  printer.warn(
    isDone ? `Deleted the data of "${name}" in ${folder}.` : `"${name}" keeps no data in ${folder}.`,
  );
  return 0;
}
