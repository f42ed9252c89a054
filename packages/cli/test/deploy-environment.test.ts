import { describe, expect, it } from "vitest";
import { cloudOfFile } from "./cloudflare/cloud-of-file.ts";
import { KINDS } from "./cloudflare/repository.ts";

const cloud = await cloudOfFile();
const { account } = cloud;

describe.each(KINDS)("the environment of a deployment: %s", (kind) => {
  cloud.configuredBy(kind);

  const staged = (env: NodeJS.ProcessEnv = {}) => {
    const project = cloud.repository("shop", env);
    project.worker("web", { sends: "mails", inX: { sends: "mails-x" } });
    project.worker("mailer", { consumes: "mails", inX: { consumes: "mails-x" } });
    return project;
  };
  const names = () => [...account.scripts.keys()].sort();

  it("is that of CLOUDFLARE_ENV, which Wrangler does not apply once more", async () => {
    const project = staged({ CLOUDFLARE_ENV: "x" });
    await project.succeed("deploy", ["web", "mailer"]);
    expect(names()).toEqual(["mailer-x", "sluice-x", "web-x"]);
    expect(cloud.bound("sluice-x")).toEqual(["mailer-x"]);
    await project.succeed("destroy", ["web", "mailer"], { force: true });
    expect(names()).toEqual([]);
  });

  it("is the top level where only a file of variables says CLOUDFLARE_ENV", async () => {
    const project = staged();
    project.write(".env", "CLOUDFLARE_ENV=x\n");
    await project.succeed("deploy", ["web", "mailer"]);
    expect(names()).toEqual(["mailer", "sluice", "web"]);
  });
});
