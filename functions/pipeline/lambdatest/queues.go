package lambdatest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/lockstep-iac/lockstep/functions/pipeline"
	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// StartQueues starts a real SQS server without queues, and returns its URL. The server stops when the tests of
// the package end. One process works for all tests, because the start of a process takes half a second of
// processor time. Each test has its own application in that process.
func StartQueues(t testing.TB) (url string) {
	t.Helper()
	app := statebackendtest.Part(t, "npm", "fauxqs", "node_modules", "fauxqs", "dist", "app.js")
	node, err := exec.LookPath("node")
	if err != nil {
		statebackendtest.Missing(t, "node, which runs the SQS server, is not installed")
	}
	starter, err := queues(node, app)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Get("http://" + starter)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	address, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the SQS server does not start: %s %v\n%s", res.Status, err, address)
	}
	return "http://" + string(address)
}

// starting is a JavaScript program that starts an SQS server for each HTTP request, and answers with the
// server's address. The program ends when its input is closed. That happens when the process of the tests ends.
// The SQS server's own command is not used, because it listens on all addresses.
const starting = `const { buildApp } = await import(process.argv[1]);
const { createServer } = await import("node:http");
const host = "127.0.0.1";
const starter = createServer(async (_, answer) => {
	const app = buildApp({ logger: false });
	await app.listen({ host, port: 0 });
	answer.end(host + ":" + app.server.address().port);
});
starter.listen(0, host, () => console.log(host + ":" + starter.address().port));
process.stdin.on("end", () => process.exit()).resume();`

var started struct {
	sync.Mutex
	address string
	input   io.Closer // kept open
}

// queues starts the program in the constant starting, once, and returns its address.
func queues(node, app string) (address string, err error) {
	started.Lock()
	defer started.Unlock()
	if started.address != "" {
		return started.address, nil
	}
	cmd := exec.Command(node, "--input-type=module", "-e", starting, "file://"+filepath.ToSlash(app))
	cmd.Stderr = os.Stderr
	started.input, err = cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("start the SQS server: %w", err)
	}
	started.address = strings.TrimSpace(line)
	return started.address, nil
}

// SQS returns a client for the SQS server at a URL.
func SQS(url string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region: Region, BaseEndpoint: aws.String(url),
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})
}

// A QueueID identifies a queue: senders use the URL, policies the ARN.
type QueueID struct{ URL, ARN string }

// MakeQueue creates a FIFO queue. If dead is not nil, it is the dead-letter queue.
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
