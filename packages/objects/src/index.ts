export { type Binding, type ObjectClass, type Objects, openObjects } from "./objects.ts";
