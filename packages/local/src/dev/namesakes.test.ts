import { once } from "node:events";
import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import type { Session } from "../processes/sessions.ts";
import { namesakesOf } from "./namesakes.ts";

const RULE = "Other processes can call only one of the two.";

function world() {
  const folder = projectFolder({
    "a/wrangler.toml": 'name = "shop"\nmain = "i.js"\n[env.staging]\n',
    "b/wrangler.toml": "name = ",
    "registry/plain": "{}",
    "registry/killed": "{}",
    "registry/sluice": "{}",
  });
  const before = new Date(Date.now() - 90_000);
  utimesSync(join(folder, "registry/killed"), before, before);
  const session = (change: Partial<Session> = {}): Session => ({
    ...{ pid: 7, startedAtMs: 1, env: "", files: [join(folder, "a/wrangler.toml")], broker: null },
    data: join(folder, "data"),
    ...change,
  });
  const find = (workers: readonly string[], others: readonly Session[], isJoined = false) => {
    const names = { workers, broker: "sluice", isJoined, data: join(folder, "data") };
    return namesakesOf(names, others, join(folder, "registry"));
  };
  return { folder, session, find };
}

it("a Worker of another session is named with its folder, by its name in that session's environment", async () => {
  const { folder, session, find } = world();
  const staging = session({ env: "staging", pid: 8 });
  const broken = session({ files: [join(folder, "b/wrangler.toml")] });
  expect(await find(["shop", "mail", "shop-staging"], [broken, session(), staging])).toEqual([
    { name: "shop", line: `The Worker "shop" of ${join(folder, "a")} runs already (process 7). ${RULE}` },
    {
      name: "shop-staging",
      line: `The Worker "shop-staging" of ${join(folder, "a")} runs already (process 8). ${RULE}`,
    },
  ]);
});

it("a Worker that is only in Wrangler's registry is named without a folder, unless it was killed", async () => {
  expect(await world().find(["plain", "killed", "new"], [])).toEqual([
    { name: "plain", line: `A Worker "plain" runs already, by another program's Wrangler. ${RULE}` },
  ]);
});

it("an entry of Wrangler's registry at whose address nobody listens any more is removed, and no namesake", async () => {
  const { folder, find } = world();
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const files = ["plain", "sluice"].map((name) => join(folder, "registry", name));
  const debugPortAddress = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const file of files) writeFileSync(file, JSON.stringify({ debugPortAddress }));
  expect(await find(["plain"], [])).toHaveLength(1);
  server.close();
  await once(server, "close");
  expect(await find(["plain"], [])).toEqual([]);
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

it("a broker of the same name on other data is said where these Workers call one by that name", async () => {
  const { session, find } = world();
  const leader = session({ broker: "sluice" });
  const other = session({ broker: "sluice", data: "/other", files: [] });
  expect(await find([], [leader, session({ broker: "sluice-x", data: "/other" })], true)).toEqual([]);
  expect(await find([], [other])).toEqual([{ name: "sluice", line: null }]);
  expect(await find([], [leader, other], true)).toEqual([
    {
      name: "sluice",
      line:
        'A broker of the same name, "sluice", runs on /other (process 7), and may get what these Workers send. ' +
        RULE,
    },
  ]);
});

it("a broker that another one of its name came before is not shared", async () => {
  const { folder, session, find } = world();
  const leader = session({ broker: "sluice" });
  const other = session({ broker: "sluice", data: "/other", files: [], pid: 9 });
  const data = join(folder, "data");
  await expect(find([], [other, leader], true)).rejects.toThrow(
    `A broker of the same name, "sluice", runs on /other (process 9). It came before that of ${data}, and would get ` +
      'what these Workers send. End it, or run all Workers of this project in one "sluice dev", or start each "sluice dev" ' +
      `of this project with WRANGLER_REGISTRY_PATH=${data}-registry: then the two projects do not meet.`,
  );
  expect(await find([], [other, leader])).toEqual([{ name: "sluice", line: null }]);
});
