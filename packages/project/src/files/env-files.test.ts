import { describe, expect, it } from "vitest";
import { takeEnvFiles } from "./env-files.ts";

describe("files that --env-file names for wrangler dev", () => {
  it.each([
    ["each by itself", ["--env-file", ".env.a", "--var", "X:1", "--env-file", "../b.env"]],
    ["several at a time", ["--env-file", ".env.a", "../b.env", "--var", "X:1"]],
    ["with an equals sign", ["--env-file=.env.a", "--env-file=../b.env", "--test-scheduled"]],
  ])("are found, %s", (_name, args) => {
    const { files, args: rewritten } = takeEnvFiles(args);
    expect(files).toEqual([".env.a", "../b.env"]);
    expect(rewritten).toEqual(
      args.map((arg) => arg.replace(".env.a", "env-file-0").replace("../b.env", "env-file-1")),
    );
  });

  it("are none among other arguments", () => {
    const args = ["--var", "ENV_FILE:--env-files", "--test-scheduled"];
    expect(takeEnvFiles(args)).toEqual({ files: [], args });
  });
});
