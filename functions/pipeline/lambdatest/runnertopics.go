//go:build linux

package lambdatest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lockstep-iac/lockstep/statebackend/statebackendtest"
)

// Topics is a real SNS server, goaws, with one topic. A queue of the server is subscribed to the topic.
type Topics struct {
	URL string
	// ARN is the topic's.
	ARN string
	t   testing.TB
}

// StartTopics starts a server with a topic. The server stops at the end of the test.
func StartTopics(t testing.TB, topic string) *Topics {
	t.Helper()
	program := statebackendtest.Part(t, "bin", "sns")
	file := filepath.Join(t.TempDir(), "goaws.yaml")
	text := fmt.Sprintf("Local:\n  Region: %s\n  AccountId: %q\n  Topics:\n  - Name: %s\n    Subscriptions:\n    - QueueName: subscribed\n      Raw: true\n", Region, AccountID, topic)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address := statebackendtest.StartServer(t, func(address string) *exec.Cmd { return statebackendtest.Server(program, address, file) })
	return &Topics{URL: "http://" + address, ARN: "arn:aws:sns:" + Region + ":" + AccountID + ":" + topic, t: t}
}

// Received returns the messages of the topic that have come since the last call.
func (x *Topics) Received() []string {
	x.t.Helper()
	answer, err := http.PostForm(x.URL+"/"+AccountID+"/subscribed", url.Values{"Action": {"ReceiveMessage"}, "MaxNumberOfMessages": {"10"}})
	if err != nil {
		x.t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Bodies []string `xml:"ReceiveMessageResult>Message>Body"`
	}
	if err := xml.NewDecoder(answer.Body).Decode(&got); err != nil {
		x.t.Fatal(err)
	}
	return got.Bodies
}
