import { join } from "node:path";
import { projectFolder } from "@sluice/project/test/project-folder";
import { expect, it } from "vitest";
import { noticesOf } from "../third-party-notices.mjs";

function metafileOf(bytes: Readonly<Record<string, number>>) {
  const inputs = Object.fromEntries(
    Object.entries(bytes).map(([path, bytesInOutput]) => [path, { bytesInOutput }]),
  );
  return { outputs: { "out.js": { bytes: 1, inputs, imports: [], exports: [] } } };
}

const manifest = (name: string) => JSON.stringify({ name, version: "1.2.3", license: "MIT" });
const FILES = {
  "node_modules/.pnpm/a@1.2.3/node_modules/@scope/a/package.json": manifest("@scope/a"),
  "node_modules/.pnpm/a@1.2.3/node_modules/@scope/a/LICENSE.md": "Copyright A",
  "node_modules/.pnpm/a@1.2.3/node_modules/@scope/a/NOTICE": "Notice of A",
  "node_modules/b/package.json": manifest("b"),
  "node_modules/b/Licence": "Copyright B",
  "node_modules/bare/package.json": manifest("bare"),
  "node_modules/apache/package.json": JSON.stringify({
    name: "apache",
    version: "1.2.3",
    license: "Apache-2.0",
  }),
  "src/index.ts": "",
};

it("the notices list each package with code in a bundle once, with all its licence files", () => {
  const folder = projectFolder(FILES);
  const a = join(folder, "node_modules/.pnpm/a@1.2.3/node_modules/@scope/a");
  const notices = noticesOf([
    metafileOf({ [`${a}/x.js`]: 10, [`${a}/y/z.js`]: 10, [join(folder, "src/index.ts")]: 5 }),
    metafileOf({ [`${a}/x.js`]: 10, [join(folder, "node_modules/b/lib/b.js")]: 1 }),
  ]);
  expect(notices.match(/@scope\/a 1\.2\.3 \(MIT\)\n\nCopyright A\n\nNotice of A\n/g)).toHaveLength(1);
  expect(notices.match(/b 1\.2\.3 \(MIT\)\n\nCopyright B\n/g)).toHaveLength(1);
});

it("a package without a licence file fails the build, unless none of its code is left in the bundle", () => {
  const file = join(projectFolder(FILES), "node_modules/bare/index.js");
  expect(() => noticesOf([metafileOf({ [file]: 1 })])).toThrow(
    "bare@1.2.3 is bundled, and has no file with its licence (MIT).",
  );
  expect(noticesOf([metafileOf({ [file]: 0 })])).not.toContain("bare");
});

it("a package under Apache-2.0 that leaves out the licence gets its text", () => {
  const file = join(projectFolder(FILES), "node_modules/apache/index.js");
  const notices = noticesOf([metafileOf({ [file]: 1 })]);
  expect(notices).toContain("apache 1.2.3 (Apache-2.0)\n\nApache License");
  expect(notices).toContain("END OF TERMS AND CONDITIONS");
});
