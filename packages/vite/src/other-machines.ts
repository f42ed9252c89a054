import { subscribe } from "node:diagnostics_channel";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { Server as SecureServer } from "node:tls";
import { parseEnv } from "node:util";
import { accessLines, dashboardLinks } from "@sluice/local/report/addresses";
import {
  type Admission,
  accessVariables,
  admitInDevelopment,
  isLoopback,
  makeToken,
} from "@sluice/local/settings/admission";
import { secretFiles } from "@sluice/project/files/secrets";
import { BROKER_SETTINGS, setVariables } from "@sluice/project/generate/broker-settings";
import { keepLocalPaths } from "./local-paths.ts";

/** Event of Node.js for a server that has begun to listen, before any connection. */
const LISTENING = "tracing:net.server.listen:asyncEnd";

/**
 * Watches which servers of this process other machines can reach. Cloudflare's plugin does not get Vite's options, and
 * the server that uses Vite may be a framework's or a program's own.
 */
export class OtherMachines {
  readonly #print: (text: string) => void;
  readonly #servers = new Set<Server>();
  /** A token, and a path that only the broker knows. Both last until the process ends, like its data folder. */
  readonly #token = makeToken();
  readonly #path = `/${makeToken()}`;
  #given: Readonly<Record<string, string>> = {};
  #hasPrinted = false;
  readonly #answers = createServer((request, response) => {
    const isKnown = request.url === this.#path;
    response.writeHead(isKnown ? 200 : 404).end(isKnown ? JSON.stringify(this.#variables()) : "");
  });

  /** @param print called once with what is open to other machines, and with the token for it. */
  constructor(print: (text: string) => void = (text) => console.log(text)) {
    this.#print = print;
    subscribe(LISTENING, (message) => this.#onListening((message as { readonly server: Server }).server));
    this.#answers.listen(0, "127.0.0.1").unref();
  }

  /** @param given variables of the broker that the user has set. */
  setGiven(given: Readonly<Record<string, string>>): void {
    this.#given = given;
  }

  /** URL of the variables by which the broker admits other machines. Throws right after the start. */
  get url(): string {
    const address = this.#answers.address() as AddressInfo | null;
    if (address === null) throw new Error("Vite has asked for the broker's address for variables too early.");
    return `http://127.0.0.1:${address.port}${this.#path}`;
  }

  #onListening(server: Server): void {
    const address = server.address();
    // Only this machine reaches a socket of the file system.
    if (address === null || typeof address === "string" || isLoopback(address.address)) return;
    keepLocalPaths(server);
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
    if (this.#hasPrinted || !answersRequests(server)) return;
    this.#hasPrinted = true;
    const url = `${server instanceof SecureServer ? "https" : "http"}://localhost:${address.port}`;
    const admission = this.#admission(address.address);
    const token = admission.made?.token ?? null;
    const link = token === null ? "" : `\n${dashboardLinks(url, token, { host: address.address })}`;
    this.#print(`\nSluice: ${accessLines(admission, address.address)}${link}`);
  }

  #variables(): Record<string, string> {
    const isReached = [...this.#servers].some(answersRequests);
    return isReached ? accessVariables(this.#admission("0.0.0.0")) : {};
  }

  #admission(host: string): Admission {
    return admitInDevelopment(this.#given, host, this.#token);
  }
}

/** Whether a server answers requests. Vite and others find free ports by silent servers on all addresses. */
function answersRequests(server: Server): boolean {
  return server.listenerCount("request") > 0;
}

let machines: OtherMachines | null = null;

/** Begins to watch, before Vite listens. */
export function watchOtherMachines(): OtherMachines {
  machines ??= new OtherMachines();
  return machines;
}

/**
 * Makes the broker ask for a token or an access key once other machines reach this process: one from the environment or
 * from `.dev.vars`, else a generated one that is printed.
 *
 * @param vars variables of the broker. Cloudflare's plugin reads them when it starts the Workers, when the variable has
 *   a value.
 * @param folder folder of the entry Worker's configuration; `null` for one without.
 * @param env environment, "" for the top level.
 */
export function askOtherMachines(vars: object, folder: string | null, env: string): void {
  const watched = watchOtherMachines();
  const beside = folder === null ? {} : accessVariables({ vars: devVarsIn(folder, env) });
  watched.setGiven({ ...beside, ...setVariables(["SLUICE_ENV", ...BROKER_SETTINGS], process.env) });
  Object.defineProperty(vars, "SLUICE_ACCESS_URL", { enumerable: true, get: () => watched.url });
}

function devVarsIn(folder: string, env: string): Record<string, string | undefined> {
  const [name = ""] = secretFiles(env, (file) => existsSync(join(folder, file)))[".dev.vars"] ?? [];
  const file = join(folder, name);
  return existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
}
