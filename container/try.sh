#!/bin/sh
# Runs an image in Docker as its users do: it gets healthy, keeps a message over a restart, and ends in order.
# try.sh IMAGE, with the AWS CLI
set -eu
name="sluice-try-$$"
trap 'docker rm --force --volumes "$name" >/dev/null' EXIT
export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_DEFAULT_REGION=us-east-1

becomes() {
  timeout 60 sh -c 'until [ "$(docker inspect --format "$0" "$1")" = "$2" ]; do sleep 0.5; done' \
    '{{.State.Health.Status}}' "$name" "$1"
}
# The port may be another one after a restart.
sqs() { aws --endpoint-url "http://$(docker port "$name" 4566/tcp)" sqs "$@" --output text; }

docker run --detach --name "$name" --publish 127.0.0.1::4566 "$1" >/dev/null
becomes healthy
sqs create-queue --queue-name orders
sqs send-message --queue-url orders --message-body kept

docker restart --time 30 "$name" >/dev/null
becomes healthy
sqs receive-message --queue-url orders --query 'Messages[0].Body' | grep -x kept

[ "$(docker exec "$name" node -p 'process.getuid()')" = 1000 ]
docker stop --time 30 "$name" >/dev/null
[ "$(docker inspect --format '{{.State.ExitCode}}' "$name")" = 0 ]
