import { anyWrangler, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import { askIn } from "@sluice/project/wrangler/wrangler-config";
import type { Printer } from "../report/printer.ts";
import type { DevOptions } from "./options.ts";
import { DevWrangler } from "./wrangler-process.ts";

/** Runs `sluice dev`. Wrangler, which takes most of a second to load, starts before the command's own modules load. */
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
