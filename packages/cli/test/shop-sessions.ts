import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { freePorts, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

/** Runs any number of `sluice dev` in one folder with these files, and ends them after the tests of the suite. */
export function shopSessions(files: Readonly<Record<string, string>>) {
  let lab: Lab;
  const running: Running[] = [];
  const folder = () => join(lab.folder, "shop");
  const startIn = async (env: NodeJS.ProcessEnv, args: readonly string[]) => {
    const { options, url } = await freePorts();
    const session = sluice(["dev", ...options, ...args], folder(), { ...lab.env, ...env });
    running.push(session);
    return { session, url };
  };
  beforeAll(() => {
    lab = openLab("staged");
    mkdirSync(folder());
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder(), name), text);
  });
  afterAll(async () => {
    await Promise.all(running.map((session) => session.stop()));
    lab.remove();
  });
  return {
    folder,
    /** Started sessions, in the order of their starts. */
    running,
    /** Starts a session, which may not be ready yet. */
    start: (...args: string[]) => startIn({}, args),
    /** Starts a session with additional variables. */
    startIn,
  };
}
