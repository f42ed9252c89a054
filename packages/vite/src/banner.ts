import { realpathSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { styleText } from "node:util";
import { SLUICE_PATH } from "@sluice/project/runtime/front-door-contract";
import { foldOwnFrames, type Logger } from "./terminal.ts";

/** Members that are used of Vite's dev server. */
interface DevServer {
  readonly resolvedUrls: { readonly local: readonly string[]; readonly network: readonly string[] } | null;
  readonly config: { readonly logger: Logger };
  printUrls(): void;
}

/** Members that are used of Vite. */
interface Vite {
  readonly DevEnvironment: { readonly prototype: { listen(server: DevServer): Promise<void> } };
}

const PLUGIN = "@cloudflare/vite-plugin";
/** Vite's module in its package, in every version that Cloudflare's plugin runs with. */
const VITE_MODULE = "dist/node/index.js";

let isWatched = false;
/** Functions that print the dashboard's line already. A server has several environments; a restart makes new ones. */
const withLine = new WeakSet<DevServer["printUrls"]>();

/**
 * Makes the dev server of this process print the dashboard's URL below its own, and remove our own frames from the
 * stack traces that it prints. `sluice()` only makes options for another plugin and gets no server from Vite, but each
 * environment gets the server before it listens.
 */
export async function changeTerminal(): Promise<void> {
  if (isWatched) return;
  isWatched = true;
  const { DevEnvironment } = await viteOfProject();
  const { listen } = DevEnvironment.prototype;
  DevEnvironment.prototype.listen = function listenChanged(server) {
    addLine(server);
    foldOwnFrames(server.config.logger);
    return Reflect.apply(listen, this, [server]);
  };
}

/** Loads the Vite that Cloudflare's plugin runs with, which is in memory already. */
async function viteOfProject(): Promise<Vite> {
  const plugin = module.findPackageJSON(PLUGIN, import.meta.url);
  const vite = plugin && module.findPackageJSON("vite", pathToFileURL(realpathSync(plugin)));
  if (!vite) throw new Error(`${PLUGIN} has no vite`);
  return import(pathToFileURL(join(dirname(realpathSync(vite)), VITE_MODULE)).href);
}

function addLine(server: DevServer): void {
  const print = server.printUrls;
  if (withLine.has(print)) return;
  server.printUrls = () => {
    print.call(server);
    const { local = [], network = [] } = server.resolvedUrls ?? {};
    const [url] = [...local, ...network];
    if (url !== undefined) server.config.logger.info(lineOf(new URL(`${SLUICE_PATH}/`, url).href));
  };
  withLine.add(server.printUrls);
}

/** Formats a line like Vite's own ones, which are aligned. */
function lineOf(url: string): string {
  const port = /:(\d+)\//.exec(url)?.[1];
  const bold = port === undefined ? url : url.replace(`:${port}/`, `:${styleText("bold", port)}/`);
  return `  ${styleText("green", "➜")}  ${styleText("bold", "Queues")}:  ${styleText("cyan", bold)}`;
}
