export { sluice } from "./sluice.ts";
