#!/usr/bin/env bash
# Publishes the packages that have a new version. npm attests where a package was built only if its manifest names that
# repository, which is known here and not in the sources.
set -euo pipefail
cd "$(dirname "$0")/.."
for package in cli testing vite; do
  (
    cd "packages/$package"
    npm pkg set repository.type=git "repository.url=git+https://github.com/$GITHUB_REPOSITORY.git" \
      "repository.directory=packages/$package"
  )
done
pnpm changeset publish
