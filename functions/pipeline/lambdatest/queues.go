package lambdatest

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// StartQueues starts a real SQS server without queues, and returns its URL. It ends with
// the test, and its queues with it.
func StartQueues(t testing.TB) (url string) {
	t.Helper()
	app := statebackendtest.Part(t, "npm", "fauxqs", "node_modules", "fauxqs", "dist", "app.js")
	node, err := exec.LookPath("node")
	if err != nil {
		statebackendtest.Missing(t, "node, which runs the SQS server, is not installed")
	}
	return "http://" + statebackendtest.StartServer(t, func(address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return statebackendtest.Server(node, "--input-type=module", "-e",
			// Its own command cannot be told an address, and listens on all.
			`const { buildApp } = await import(`+strconv.Quote("file://"+filepath.ToSlash(app))+`);
await buildApp({ logger: false }).listen({ host: `+strconv.Quote(host)+`, port: `+port+` });`)
	})
}

// SQS returns a client of the server at a URL.
func SQS(url string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region: Region, BaseEndpoint: aws.String(url),
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})
}

// QueueID names a queue as senders and as policies do.
type QueueID struct{ URL, ARN string }

// MakeQueue makes a FIFO queue, with another for its dead letters, if given.
func MakeQueue(t testing.TB, client *sqs.Client, name string, dead *QueueID) QueueID {
	t.Helper()
	attributes := map[string]string{"FifoQueue": "true", "VisibilityTimeout": "900"}
	if dead != nil {
		receives := pipeline.Plans.Receives()
		if strings.Contains(name, string(pipeline.Applies)) {
			receives = pipeline.Applies.Receives()
		}
		attributes["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, dead.ARN, receives)
	}
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	arn := types.QueueAttributeNameQueueArn
	got, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: made.QueueUrl, AttributeNames: []types.QueueAttributeName{arn},
	})
	if err != nil {
		t.Fatal(err)
	}
	return QueueID{aws.ToString(made.QueueUrl), got.Attributes[string(arn)]}
}
