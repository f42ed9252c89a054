"""Uses every action of SQS that this version of boto3 knows. Arguments: endpoint, key, secret.

Prints the protocol, the actions that were used and those that there are, as JSON; fails at the first thing that is not as
on AWS.
"""

import hashlib
import json
import struct
import sys
import urllib.request
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, KEY, SECRET = sys.argv[1:4]
ARN = "arn:aws:sqs:us-east-1:000000000000:"
used = set()


def client_of(secret=SECRET):
    client = boto3.client(
        "sqs",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 1}),
    )
    client.meta.events.register("before-call.sqs.*", lambda model, **_: used.add(model.name))
    return client


sqs = client_of()
protocol = sqs.meta.service_model.protocol
run = uuid.uuid4().hex[:8]


def refused(call, code, exception=ClientError, **arguments):
    try:
        call(**arguments)
    except exception as error:
        assert error.response["Error"]["Code"] == code, error.response
        return error.response
    raise AssertionError(f"{code} was not thrown")


def attributes_md5(attributes):
    data = b""
    for name in sorted(attributes):
        value = attributes[name]
        is_binary = "BinaryValue" in value
        raw = value["BinaryValue"] if is_binary else value["StringValue"].encode()
        for part in (name.encode(), value["DataType"].encode()):
            data += struct.pack("!I", len(part)) + part
        data += (b"\x02" if is_binary else b"\x01") + struct.pack("!I", len(raw)) + raw
    return hashlib.md5(data).hexdigest()


# Queues
dead = sqs.create_queue(QueueName=f"{run}-dead")["QueueUrl"]
redrive = json.dumps({"deadLetterTargetArn": f"{ARN}{run}-dead", "maxReceiveCount": 1})
url = sqs.create_queue(
    QueueName=f"{run}-jobs", Attributes={"VisibilityTimeout": "5", "RedrivePolicy": redrive}, tags={"team": "ä"}
)["QueueUrl"]
assert sqs.get_queue_url(QueueName=f"{run}-jobs")["QueueUrl"] == url
pages = sqs.get_paginator("list_queues").paginate(QueueNamePrefix=run, PaginationConfig={"PageSize": 1})
assert [page["QueueUrls"] for page in pages] == [[dead], [url]]
sources = sqs.get_paginator("list_dead_letter_source_queues").paginate(QueueUrl=dead)
assert sources.build_full_result()["queueUrls"] == [url]
sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "60"})
shown = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout", "RedrivePolicy"])["Attributes"]
assert shown == {"VisibilityTimeout": "60", "RedrivePolicy": redrive}, shown
sqs.tag_queue(QueueUrl=url, Tags={"env": "<test> & \"more\""})
sqs.untag_queue(QueueUrl=url, TagKeys=["team"])
assert sqs.list_queue_tags(QueueUrl=url)["Tags"] == {"env": "<test> & \"more\""}
sqs.add_permission(QueueUrl=url, Label="one", AWSAccountIds=["123456789012"], Actions=["SendMessage"])
sqs.remove_permission(QueueUrl=url, Label="one")

# Messages
attributes = {
    "Text": {"DataType": "String", "StringValue": "wörd"},
    "Count": {"DataType": "Number", "StringValue": "42"},
    "Bytes": {"DataType": "Binary.png", "BinaryValue": b"\x00\xff\r\n"},
}
body = "héllo <&> \"x\"\r\n\t🦆"
sent = sqs.send_message(QueueUrl=url, MessageBody=body, MessageAttributes=attributes)
assert sent["MD5OfMessageBody"] == hashlib.md5(body.encode()).hexdigest()
assert sent["MD5OfMessageAttributes"] == attributes_md5(attributes), sent
(message,) = sqs.receive_message(
    QueueUrl=url, WaitTimeSeconds=5, AttributeNames=["All"], MessageAttributeNames=["All"]
)["Messages"]
assert message["Body"] == body, message
assert message["MessageAttributes"] == attributes, message
assert message["MD5OfMessageAttributes"] == attributes_md5(attributes)
assert message["MessageId"] == sent["MessageId"]
assert message["Attributes"]["ApproximateReceiveCount"] == "1"
handle = message["ReceiptHandle"]
sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=120)
assert "Messages" not in sqs.receive_message(QueueUrl=url)
sqs.delete_message(QueueUrl=url, ReceiptHandle=handle)
batch = sqs.send_message_batch(
    QueueUrl=url,
    Entries=[{"Id": "a", "MessageBody": "a"}, {"Id": "bad", "MessageBody": "\x00"}, {"Id": "b", "MessageBody": "b"}],
)
assert [each["Id"] for each in batch["Successful"]] == ["a", "b"]
assert [(each["Id"], each["Code"], each["SenderFault"]) for each in batch["Failed"]] == [
    ("bad", "InvalidMessageContents", True)
]
received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
assert [each["Body"] for each in received] == ["a", "b"]
entries = [{"Id": each["Body"], "ReceiptHandle": each["ReceiptHandle"]} for each in received]
changed = sqs.change_message_visibility_batch(
    QueueUrl=url, Entries=[{**entries[0], "VisibilityTimeout": 0}, {**entries[1], "VisibilityTimeout": 43201}]
)
assert [each["Id"] for each in changed["Successful"]] == ["a"] and changed["Failed"][0]["Id"] == "b"
# "a" has been received once, which is as often as it may: it goes to the dead-letter queue.
assert "Messages" not in sqs.receive_message(QueueUrl=url)
assert sqs.delete_message_batch(QueueUrl=url, Entries=entries[1:])["Successful"] == [{"Id": "b"}]
(moved,) = sqs.receive_message(QueueUrl=dead, WaitTimeSeconds=10, VisibilityTimeout=0, AttributeNames=["All"])["Messages"]
assert moved["Attributes"]["DeadLetterQueueSourceArn"] == f"{ARN}{run}-jobs"
if hasattr(sqs, "start_message_move_task"):
    task = sqs.start_message_move_task(SourceArn=f"{ARN}{run}-dead")["TaskHandle"]
    (back,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=10)["Messages"]
    assert back["Body"] == "a"
    assert sqs.list_message_move_tasks(SourceArn=f"{ARN}{run}-dead")["Results"][0]["SourceArn"] == f"{ARN}{run}-dead"
    refused(sqs.cancel_message_move_task, "InvalidParameterValue", TaskHandle=task)

# FIFO
fifo = sqs.create_queue(QueueName=f"{run}.fifo", Attributes={"FifoQueue": "true", "ContentBasedDeduplication": "true"})
fifo = fifo["QueueUrl"]
first = sqs.send_message(QueueUrl=fifo, MessageBody="1", MessageGroupId="g")
again = sqs.send_message(QueueUrl=fifo, MessageBody="1", MessageGroupId="g")
assert first["SequenceNumber"] == again["SequenceNumber"] and len(first["SequenceNumber"]) == 20

# Refusals, by their classes and codes
gone = f"{url}-gone"
no_such_queue = "AWS.SimpleQueueService.NonExistentQueue"
response = refused(sqs.send_message, no_such_queue, sqs.exceptions.QueueDoesNotExist, QueueUrl=gone, MessageBody="x")
assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
refused(sqs.get_queue_url, no_such_queue, sqs.exceptions.QueueDoesNotExist, QueueName="never")
refused(sqs.delete_message, "ReceiptHandleIsInvalid", sqs.exceptions.ReceiptHandleIsInvalid, QueueUrl=url, ReceiptHandle="x")
refused(sqs.send_message_batch, "AWS.SimpleQueueService.EmptyBatchRequest", sqs.exceptions.EmptyBatchRequest, QueueUrl=url, Entries=[])
refused(sqs.set_queue_attributes, "InvalidAttributeName", sqs.exceptions.InvalidAttributeName, QueueUrl=url, Attributes={"X": "1"})
refused(sqs.send_message, "MissingParameter", QueueUrl=fifo, MessageBody="x")
refused(sqs.receive_message, "InvalidParameterValue", QueueUrl=url, WaitTimeSeconds=21)
refused(client_of("another secret").list_queues, "SignatureDoesNotMatch")

# A URL that was signed before, which only the Query protocol has.
if protocol == "query":
    params = {"QueueUrl": url, "MessageBody": "by URL & more"}
    signed = sqs.generate_presigned_url("send_message", Params=params, HttpMethod="GET")
    with urllib.request.urlopen(signed) as answer:
        assert b"<MD5OfMessageBody>" in answer.read()
    (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert message["Body"] == "by URL & more"
    try:
        urllib.request.urlopen(signed.replace("more", "less"))
        raise AssertionError("a changed URL was taken")
    except urllib.error.HTTPError as error:
        assert error.code == 403 and b"SignatureDoesNotMatch" in error.read()

sqs.purge_queue(QueueUrl=url)
for each in (url, dead, fifo):
    sqs.delete_queue(QueueUrl=each)
refused(sqs.get_queue_attributes, no_such_queue, sqs.exceptions.QueueDoesNotExist, QueueUrl=url, AttributeNames=["All"])
print(json.dumps({"protocol": protocol, "used": sorted(used), "known": sorted(sqs.meta.service_model.operation_names)}))
