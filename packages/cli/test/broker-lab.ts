import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Look } from "@sluice/local/report/table";
import { expect } from "vitest";
import { run } from "../src/command-line.ts";
import { collected } from "./collected.ts";
import { type Running, sluice } from "./running.ts";

/** Result of a command line. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** Questions that the command asked, joined. */
  readonly asked: string;
}

/** Surroundings of a command line. */
interface Situation {
  /** Standard input. */
  readonly input?: string;
  /** Answer that a person at the terminal types, or a function that returns it. Default: there is no terminal. */
  readonly types?: string | (() => Promise<string>);
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the broker's folder. */
  readonly cwd?: string;
  /** Look of standard output. Default: it is no terminal. */
  readonly look?: Look;
}

/** A folder with a broker of its own, which the commands of other tests do not find. */
export class BrokerLab {
  /** Folder that the broker runs in. */
  readonly folder: string;
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), "sluice-broker-")));
  readonly #env: NodeJS.ProcessEnv;
  #running: Running | undefined;

  /** @param wrangler text of a `wrangler.toml` in the folder. */
  constructor(wrangler = "") {
    this.folder = join(this.#root, "project");
    mkdirSync(this.folder);
    if (wrangler !== "") writeFileSync(join(this.folder, "wrangler.toml"), wrangler);
    const { CLOUDFLARE_ENV, SLUICE_API_TOKEN, SLUICE_URL, VISUAL, EDITOR, ...rest } = process.env;
    const own = { CI: "1", NO_COLOR: "1", WRANGLER_REGISTRY_PATH: join(this.#root, "registry") };
    this.#env = { ...rest, ...own };
  }

  /** Runs `sluice serve` and returns its URL. */
  async serve(env: Readonly<Record<string, string>> = {}): Promise<string> {
    this.#running = sluice(["serve", "--port", "0"], this.folder, { ...this.#env, ...env });
    const printed = await this.#running.printed(/health, page without data/);
    return /queues +(http:\/\/127\.0\.0\.1:\d+)/.exec(printed)?.[1] ?? "";
  }

  /** Resolves when the broker has printed something. */
  async printed(pattern: RegExp): Promise<string | undefined> {
    return this.#running?.printed(pattern);
  }

  /** Ends the broker with a signal. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#running?.stop(signal);
  }

  /** Ends everything. */
  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#root, { recursive: true, force: true });
  }

  /** Runs a command line in this process. */
  async run(args: readonly string[], situation: Situation = {}): Promise<Said> {
    let asked = "";
    const { printer, said } = collected();
    const code = await run(
      args,
      { ...printer, ...situation.look },
      {
        cwd: situation.cwd ?? this.folder,
        env: { ...this.#env, ...situation.env },
        input: Readable.from(situation.input === undefined ? [] : [situation.input]),
        isInteractive: situation.types !== undefined,
        showsProgress: false,
        ask: async (question) => {
          asked += question;
          const { types = "" } = situation;
          return typeof types === "string" ? types : types();
        },
      },
    );
    return { code, ...said, asked };
  }

  /** Runs a command that has to end with a code and print nothing to standard output, and returns standard error. */
  async words(code: number, args: readonly string[], situation: Situation = {}): Promise<string> {
    const { err, ...end } = await this.run(args, situation);
    expect(end, err).toMatchObject({ code, out: "" });
    return err;
  }

  /** Runs a command and returns its JSON. */
  async json<T = unknown>(args: readonly string[], situation: Situation = {}): Promise<T> {
    const { code, out, err } = await this.run([...args, "--json"], situation);
    if (code !== 0) throw new Error(`exit code ${code}: ${err}`);
    return JSON.parse(out) as T;
  }

  /** Runs a command line as a process of its own, in the folder. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    return sluice(args, this.folder, { ...this.#env, ...env });
  }
}
