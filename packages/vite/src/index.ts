import "@sluice/project/node-version/refuse-old-node";

export { sluice } from "./sluice.ts";
