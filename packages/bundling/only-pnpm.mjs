// Refuses to pack a package by anything but pnpm: other package managers ignore parts of `publishConfig`, and the
// manifest in their archive would point to sources that are not in it. Plain JavaScript, run in the package's folder.
const { npm_config_user_agent: packer = "", npm_package_name: name } = process.env;
if (!packer.startsWith("pnpm/")) {
  console.error(`Only pnpm packs ${name} as it is published: npx -y pnpm@12.21.0 --filter ${name} pack`);
  process.exit(1);
}
