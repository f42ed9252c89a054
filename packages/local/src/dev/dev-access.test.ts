import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readProject } from "@sluice/project/read/project";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { accessVariables, tokenIn } from "../settings/admission.ts";
import { AccessChanges, devAccess, refuseLeading } from "./dev-access.ts";

const SHOP = { "wrangler.json": '{ "name": "shop", "main": "index.js" }', "index.js": "export default {};" };
const BROKER = {
  "wrangler.json": JSON.stringify({
    name: "sluice",
    durable_objects: { bindings: [{ name: "SLUICE_QUEUES", class_name: "QueueBroker" }] },
  }),
};

async function accessOf(
  files: Record<string, string>,
  host: string,
  environment = {},
  envFiles: string[] = [],
) {
  const workingDirectory = projectFolder(files);
  const project = await readProject({ targets: [], env: "", workingDirectory });
  return devAccess(project, { host, env: "", envFiles, environment });
}

describe("the broker of sluice dev", () => {
  it("is open on its own machine, and asks other machines for what was made, each time anew", async () => {
    expect(accessVariables(await accessOf(SHOP, "localhost"))).toEqual({});
    const [one, two] = [await accessOf(SHOP, "0.0.0.0"), await accessOf(SHOP, "0.0.0.0")];
    expect(tokenIn(one)).toMatch(/^[\w-]{32}$/);
    expect(tokenIn(one)).not.toBe(tokenIn(two));
    expect(accessVariables(one)).toEqual({
      SLUICE_API_TOKENS: tokenIn(one),
      SLUICE_AWS_ACCESS_KEYS: `SLUICE:${tokenIn(one)}`,
    });
  });

  it.each([
    ["the environment", {}, { SLUICE_API_TOKENS: "fixed" }, []],
    ["the Worker's .dev.vars", { ".dev.vars": "SLUICE_API_TOKENS=fixed\n" }, {}, []],
    ["a file of --env-file", { "some.env": "SLUICE_API_TOKENS=fixed\n" }, {}, ["some.env"]],
    ["the environment first", { ".dev.vars": "SLUICE_API_TOKENS=x\n" }, { SLUICE_API_TOKENS: "fixed" }, []],
  ])("asks for the token of %s where there is one", async (_, files, environment, envFiles) => {
    const access = await accessOf({ ...SHOP, ...files }, "0.0.0.0", environment, envFiles);
    expect(tokenIn(access)).toBe("fixed");
    expect(access.made?.token ?? null).toBeNull();
  });

  it("takes nothing from a Worker's .dev.vars on its own machine", async () => {
    const access = await accessOf({ ...SHOP, ".dev.vars": "SLUICE_API_TOKENS=fixed\n" }, "127.0.0.1");
    expect(access.http).toBe("everybody");
  });

  it("with a folder of its own goes by its .dev.vars, which must not open it to other machines", async () => {
    const own = (value: string) => ({ ...BROKER, ".dev.vars": `SLUICE_API_TOKENS=${value}\n` });
    expect(tokenIn(await accessOf(own("fixed"), "0.0.0.0", { SLUICE_API_TOKENS: "other" }))).toBe("fixed");
    expect(tokenIn(await accessOf(own("fixed"), "localhost"))).toBe("fixed");
    for (const empty of ["", ","]) {
      await expect(accessOf(own(empty), "0.0.0.0")).rejects.toThrow(
        "SLUICE_API_TOKENS is empty in the variables of",
      );
    }
  });

  it("leads no other machines to the broker of another session", async () => {
    const access = await accessOf(SHOP, "0.0.0.0");
    const leader = { pid: 7, startedAtMs: 0, env: "", files: [], data: join("/", "data"), broker: "sluice" };
    const joined = { kind: "joined", leader } as const;
    expect(() => refuseLeading(joined, "0.0.0.0", access)).toThrow("runs in another process (7)");
    refuseLeading({ kind: "own" }, "0.0.0.0", access);
    refuseLeading(joined, "localhost", await accessOf(SHOP, "localhost"));
    refuseLeading(joined, "0.0.0.0", await accessOf(SHOP, "0.0.0.0", { SLUICE_ENV: "local" }));
  });
});

describe("a change of the Worker's variables", () => {
  const KEYS = "SLUICE_AWS_ACCESS_KEYS=KEY:SECRET\n";
  /** Starts with a `.dev.vars`, and tells what is said of each further one; `null` deletes it. */
  const session = async (devVars: string, host = "0.0.0.0", environment = {}) => {
    const workingDirectory = projectFolder({ ...SHOP, ".dev.vars": devVars });
    const file = join(workingDirectory, ".dev.vars");
    const read = () => readProject({ targets: [], env: "", workingDirectory });
    const access = async () => devAccess(await read(), { host, env: "", envFiles: [], environment });
    const changes = new AccessChanges(await access());
    const said = async (next: string | null) => {
      if (next === null) rmSync(file);
      else writeFileSync(file, next);
      return changes.noticeOf(await read(), await access());
    };
    return { said, config: join(workingDirectory, "wrangler.json") };
  };

  it("is told once where the broker has taken its token from there, since it keeps the old one", async () => {
    const { said, config } = await session(`SLUICE_API_TOKENS=old\n${KEYS}`);
    expect(await said(`SLUICE_API_TOKENS=new\n${KEYS}`)).toBe(
      `SLUICE_API_TOKENS has changed in the variables of ${config}, or in the .dev.vars beside it. ` +
        'The broker goes on with what it had at the start until "sluice dev" is started again.',
    );
    expect(await said(`SLUICE_API_TOKENS=new\n${KEYS}`)).toBeNull();
    expect(await said(`SLUICE_API_TOKENS=newer\n${KEYS}`)).toMatch(/^SLUICE_API_TOKENS has changed/);
    expect(await said(null)).toMatch(/^SLUICE_API_TOKENS and SLUICE_AWS_ACCESS_KEYS have changed/);
  });

  it("is told where it takes the place of what was made", async () => {
    const { said } = await session("SECRET=x\n");
    expect(await said("SECRET=x\nSLUICE_API_TOKENS=new\n")).toMatch(/^SLUICE_API_TOKENS has changed/);
  });

  it("is not told where the start would decide the same", async () => {
    const { said } = await session(`SECRET=x\nSLUICE_API_TOKENS=old\n${KEYS}`);
    expect(await said(`SECRET=y\nSLUICE_API_TOKENS="old"\n${KEYS}`)).toBeNull();
    await said(`SLUICE_API_TOKENS=new\n${KEYS}`);
    expect(await said(`SLUICE_API_TOKENS=old\n${KEYS}`)).toBeNull();
    const made = await session("");
    expect(await made.said("SLUICE_API_TOKENS=\n")).toBeNull();
  });

  it.each([
    ["the environment has the token", "0.0.0.0", { SLUICE_API_TOKENS: "fixed" }],
    ["the broker is its own machine's alone", "localhost", {}],
  ])("is not told where %s", async (_, host, environment) => {
    const { said } = await session("SLUICE_API_TOKENS=old\n", host, environment);
    expect(await said("SLUICE_API_TOKENS=new\n")).toBeNull();
  });
});
