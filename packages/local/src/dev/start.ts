import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { askIn } from "@sluice/project/wrangler/wrangler-config";
import type { Printer } from "../report/printer.ts";
import { DevWrangler } from "./wrangler-process.ts";

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

/** `sluice dev`: starts Wrangler, which takes most of a second to load, before it loads what else the command needs. */
export async function startDev(options: DevOptions, printer: Printer): Promise<number> {
  const cwd = process.cwd();
  takeWranglerOf(
    [cwd, ...options.targets],
    anyWrangler((text) => printer.warn(text)),
  );
  const wrangler = new DevWrangler(cwd);
  askIn(wrangler.answers);
  const { dev } = await import("./dev.ts");
  return dev(options, wrangler, printer);
}
